// Settings of the C library's allocator, for a process that lives long and allocates little.
#include "process.h"
#include <malloc.h>

void process_save_memory(void) {
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_TRIM_THRESHOLD, 64 * 1024);
    mallopt(M_MMAP_THRESHOLD, 64 * 1024);
}

void process_return_memory(void) {
    malloc_trim(0);
}
