/* The clocks of a process that preloads this are ahead by the seconds in the file $TURNED_CLOCK; timers stay. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Of the wall clock, of the boot clock. */
static const volatile int64_t *seconds_ahead;

__attribute__((constructor)) static void open_clock(void) {
  const char *path = getenv("TURNED_CLOCK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) abort();
  void *shared = mmap(NULL, 2 * sizeof *seconds_ahead, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (shared == MAP_FAILED) abort();
  seconds_ahead = shared;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int result = (int)syscall(SYS_clock_gettime, clock, now);
  int wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (result == 0 && wall && seconds_ahead) now->tv_sec += seconds_ahead[0];
  if (result == 0 && clock == CLOCK_BOOTTIME && seconds_ahead) now->tv_sec += seconds_ahead[1];
  return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec precise;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &precise) < 0) return -1;
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *out) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) < 0) return -1;
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}
