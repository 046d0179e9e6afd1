// What the daemon uses of libsystemd: the event loop, the service manager's protocol, the journal.
//
// Functions that can fail return a negative errno.
#ifndef CSYSTEMD_H
#define CSYSTEMD_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "process.h"

struct csystemd_loop;
struct csystemd_source;

// Called in the thread that turns the loop. The source may be freed within.
typedef void (*csystemd_handler)(void *context);

int csystemd_loop_new(struct csystemd_loop **ret);
void csystemd_loop_free(struct csystemd_loop *loop);
// Waits for one event and calls its handler.
int csystemd_loop_turn(struct csystemd_loop *loop);
// How often the loop has come back from waiting.
uint64_t csystemd_loop_turns(const struct csystemd_loop *loop);

// Calls while the descriptor is readable, hung up or in error. It stays the caller's.
int csystemd_watch(struct csystemd_loop *loop, int descriptor, csystemd_handler handler, void *context,
                   struct csystemd_source **ret);
// A timer that is not armed yet.
int csystemd_timer(struct csystemd_loop *loop, clockid_t clock, csystemd_handler handler, void *context,
                   struct csystemd_source **ret);
// Fires once when so much time has passed on the timer's clock; replaces an earlier arming.
int csystemd_timer_arm(struct csystemd_source *source, uint64_t after_ns);
int csystemd_timer_disarm(struct csystemd_source *source);
// The signal must be blocked in every thread.
int csystemd_signal(struct csystemd_loop *loop, int signal, csystemd_handler handler, void *context,
                    struct csystemd_source **ret);
void csystemd_source_free(struct csystemd_source *source);

// Tells the service manager; 0: there is none that listens.
int csystemd_notify(const char *state);
// The same together with a descriptor, for the service manager to keep (FDSTORE=1) or to forget again.
int csystemd_store(const char *state, int descriptor);
// Descriptors 3, 4, ... that the service manager handed over; names are freed with csystemd_names_free.
int csystemd_listen_fds(char ***ret_names);
void csystemd_names_free(char **names);

struct csystemd_field {
  const void *bytes; // NAME=value
  size_t length;
};
int csystemd_journal(const struct csystemd_field *fields, size_t count);

#endif
