// How little memory the process holds: settings of the C library's allocator.
import Glibc

/// One arena for all threads, and freed memory goes back early: the daemon allocates little and rarely at once.
func tuneMemory() {
  mallopt(M_ARENA_MAX, 1)
  mallopt(M_TRIM_THRESHOLD, 64 << 10)
  mallopt(M_MMAP_THRESHOLD, 64 << 10)
}
