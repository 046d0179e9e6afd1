// libsystemd behind CSystemd.h: one kind of handler for every kind of event source.
#define _GNU_SOURCE
#define SD_JOURNAL_SUPPRESS_LOCATION
#include "CSystemd.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

// There is no struct csystemd_loop: it is a sd_event under a name of ours.
static sd_event *event(const struct csystemd_loop *loop) { return (sd_event *)loop; }

struct csystemd_source {
  sd_event_source *source;
  csystemd_handler handler;
  void *context;
};

// The handler may free its source: nothing may touch it after the call.
static int call(void *context) {
  struct csystemd_source *s = context;
  s->handler(s->context);
  return 0;
}

static int on_io(sd_event_source *source, int descriptor, uint32_t events, void *context) {
  return call(context);
}

// A timer that was armed anew or disarmed since it was found readable has nothing to tell.
static int on_time(sd_event_source *source, int descriptor, uint32_t events, void *context) {
  uint64_t expirations = 0;
  if (read(descriptor, &expirations, sizeof expirations) < 0)
    return 0;
  return call(context);
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *context) {
  return call(context);
}

static struct csystemd_source *new_source(csystemd_handler handler, void *context) {
  struct csystemd_source *s = calloc(1, sizeof *s);
  if (s != NULL) {
    s->handler = handler;
    s->context = context;
  }
  return s;
}

static int finish(struct csystemd_source *s, int status, struct csystemd_source **ret) {
  if (status < 0) {
    csystemd_source_free(s);
    return status;
  }
  *ret = s;
  return 0;
}

int csystemd_loop_new(struct csystemd_loop **ret) {
  sd_event *made = NULL;
  int status = sd_event_new(&made);
  if (status >= 0)
    *ret = (struct csystemd_loop *)made;
  return status;
}

void csystemd_loop_free(struct csystemd_loop *loop) { sd_event_unref(event(loop)); }
int csystemd_loop_turn(struct csystemd_loop *loop) { return sd_event_run(event(loop), UINT64_MAX); }

uint64_t csystemd_loop_turns(const struct csystemd_loop *loop) {
  uint64_t turns = 0;
  return sd_event_get_iteration(event(loop), &turns) < 0 ? 0 : turns;
}

int csystemd_watch(struct csystemd_loop *loop, int descriptor, csystemd_handler handler, void *context,
                   struct csystemd_source **ret) {
  struct csystemd_source *s = new_source(handler, context);
  if (s == NULL)
    return -ENOMEM;
  return finish(s, sd_event_add_io(event(loop), &s->source, descriptor, EPOLLIN, on_io, s), ret);
}

// Not sd_event's own timers: those are set to readings of their clock, and sd_event_run ends with an error when the
// clock shows something else to the timer than to us (seen under libfaketime, which turns every absolute timer).
int csystemd_timer(struct csystemd_loop *loop, clockid_t clock, csystemd_handler handler, void *context,
                   struct csystemd_source **ret) {
  struct csystemd_source *s = new_source(handler, context);
  if (s == NULL)
    return -ENOMEM;
  int descriptor = timerfd_create(clock, TFD_CLOEXEC | TFD_NONBLOCK);
  if (descriptor < 0)
    return finish(s, -errno, ret);
  int status = sd_event_add_io(event(loop), &s->source, descriptor, EPOLLIN, on_time, s);
  if (status >= 0)
    status = sd_event_source_set_io_fd_own(s->source, 1);
  if (status < 0)
    close(descriptor);
  return finish(s, status, ret);
}

static int set_timer(struct csystemd_source *s, const struct itimerspec *when) {
  return timerfd_settime(sd_event_source_get_io_fd(s->source), 0, when, NULL) < 0 ? -errno : 0;
}

int csystemd_timer_arm(struct csystemd_source *s, uint64_t after_ns) {
  const uint64_t second = 1000000000;
  // Zero would disarm it.
  const uint64_t wait = after_ns == 0 ? 1 : after_ns;
  const struct itimerspec when = {.it_value = {.tv_sec = (time_t)(wait / second), .tv_nsec = (long)(wait % second)}};
  return set_timer(s, &when);
}

int csystemd_timer_disarm(struct csystemd_source *s) {
  const struct itimerspec never = {0};
  return set_timer(s, &never);
}

int csystemd_signal(struct csystemd_loop *loop, int signal, csystemd_handler handler, void *context,
                    struct csystemd_source **ret) {
  struct csystemd_source *s = new_source(handler, context);
  if (s == NULL)
    return -ENOMEM;
  return finish(s, sd_event_add_signal(event(loop), &s->source, signal, on_signal, s), ret);
}

void csystemd_source_free(struct csystemd_source *s) {
  sd_event_source_disable_unref(s->source);
  free(s);
}

int csystemd_notify(const char *state) { return sd_notify(0, state); }

int csystemd_store(const char *state, int descriptor) {
  return sd_pid_notify_with_fds(0, 0, state, &descriptor, 1);
}

int csystemd_listen_fds(char ***ret_names) { return sd_listen_fds_with_names(1, ret_names); }

void csystemd_names_free(char **names) {
  for (char **name = names; name != NULL && *name != NULL; name++)
    free(*name);
  free(names);
}

int csystemd_journal(const struct csystemd_field *fields, size_t count) {
  struct iovec vector[16];
  if (count > sizeof vector / sizeof *vector)
    return -E2BIG;
  for (size_t i = 0; i < count; i++)
    vector[i] = (struct iovec){(void *)fields[i].bytes, fields[i].length};
  return sd_journal_sendv(vector, (int)count);
}
