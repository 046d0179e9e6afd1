// A timer on the wall clock that also tells when the clock is set: timerfd, which Swift's Glibc module leaves out.
#ifndef LS_CLOCK_H
#define LS_CLOCK_H

#include <stdint.h>

enum {
  LS_CLOCK_NOTHING = 0,  // the timer has not fired yet
  LS_CLOCK_FIRED = 1,
  LS_CLOCK_WAS_SET = 2,  // the wall clock jumped since the timer was armed
};

// A non-blocking timer descriptor, or a negative errno.
int ls_clock_timer_open(void);
// Fires once at this UTC second; in the past: at once. 0, or a negative errno (-EOVERFLOW: a time_t of 32 bits ends).
int ls_clock_timer_arm(int descriptor, int64_t utc_second);
// LS_CLOCK_*, or a negative errno.
int ls_clock_timer_read(int descriptor);

#endif
