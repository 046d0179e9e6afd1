// timerfd on CLOCK_REALTIME.
#define _GNU_SOURCE
#include "ls_clock.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

int ls_clock_timer_open(void) {
  const int descriptor = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  return descriptor < 0 ? -errno : descriptor;
}

int ls_clock_timer_arm(int descriptor, int64_t utc_second) {
  // A time of 0 would disarm, and one before 1970 is refused: both are in the past.
  const int64_t second = utc_second < 1 ? 1 : utc_second;
  const struct itimerspec when = {.it_value = {.tv_sec = (time_t)second}};
  if ((int64_t)when.it_value.tv_sec != second) return -EOVERFLOW;
  return timerfd_settime(descriptor, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &when, NULL) < 0 ? -errno : 0;
}

int ls_clock_timer_read(int descriptor) {
  uint64_t expirations = 0;
  ssize_t length;
  do length = read(descriptor, &expirations, sizeof expirations);
  while (length < 0 && errno == EINTR);
  if (length >= 0) return LS_CLOCK_FIRED;
  switch (errno) {
    case EAGAIN: return LS_CLOCK_NOTHING;
    case ECANCELED: return LS_CLOCK_WAS_SET;
    default: return -errno;
  }
}
