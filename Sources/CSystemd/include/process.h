// What the daemon asks of the C library for its own process.
#pragma once

/// One arena for all threads, and freed memory goes back to the kernel early. Before other threads start.
void process_save_memory(void);

/// Gives back what is free now.
void process_return_memory(void);
