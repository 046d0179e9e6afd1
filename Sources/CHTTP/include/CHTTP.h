// An HTTP/1.1 server that somebody else's event loop turns: libmicrohttpd behind a header without its types.
//
// Everything happens in the thread that calls chttp_run, one call at a time. Functions that can fail return a
// negative errno.
#ifndef CHTTP_H
#define CHTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct chttp_server;
struct chttp_request;

struct chttp_limits {
  unsigned connections;  // open at once; further ones wait in the kernel's backlog
  unsigned idle_seconds; // without a byte in either direction, then the connection is closed
  size_t pool_bytes;     // memory for the head of a request and the head of its answer, for each connection
  size_t body_bytes;     // a longer body is not kept, and chttp_body says so
};

struct chttp_hooks {
  void *context;
  // The head has arrived, the body not yet. An answer given here refuses the request.
  void (*head)(void *context, struct chttp_request *request);
  // The whole request is here. It waits, at no cost, until chttp_respond is called: in the hook or later.
  void (*ready)(void *context, struct chttp_request *request);
  // The last word on a request, answered or not; it is freed after this. Called for each that `head` saw.
  void (*gone)(void *context, struct chttp_request *request);
  // A request that waited has its answer: chttp_run must be called, although the descriptor is quiet.
  void (*wake)(void *context);
  // The client of a stream can take more: up to `size` bytes go to `bytes`. Returns how many, 0 for none yet
  // (chttp_more tells when), or -1 for the end of the stream.
  ssize_t (*next)(void *context, struct chttp_request *request, uint8_t *bytes, size_t size);
};

struct chttp_header {
  const char *name;
  const char *value;
};

struct chttp_peer {
  pid_t pid;
  uid_t uid;
  gid_t gid;
};

// Serves connections from a listening, non-blocking socket. The descriptor stays the caller's (it is duplicated).
int chttp_start(int listening, const struct chttp_limits *limits, const struct chttp_hooks *hooks,
                struct chttp_server **ret);
// Closes all connections (each request gets its `gone`), then frees the server. Not from within a hook.
void chttp_stop(struct chttp_server *server);

// The descriptor that is readable when chttp_run has something to do.
int chttp_descriptor(const struct chttp_server *server);
// Does what can be done without waiting.
int chttp_run(struct chttp_server *server);
// Milliseconds until chttp_run must be called although the descriptor is quiet; -1: never.
int64_t chttp_timeout(struct chttp_server *server);
unsigned chttp_connections(const struct chttp_server *server);

// What the client sent. The pointers are valid within the hook that got the request.
const char *chttp_method(const struct chttp_request *request);
const char *chttp_version(const struct chttp_request *request);
// The target as sent, undecoded, query included; zero-terminated.
const char *chttp_target(const struct chttp_request *request);
void chttp_each_header(struct chttp_request *request, void *context,
                       void (*each)(void *context, const char *name, size_t name_length, const char *value,
                                    size_t value_length));
// -EMSGSIZE when the body was longer than the limit.
int chttp_body(const struct chttp_request *request, const uint8_t **ret_bytes, size_t *ret_length);

// Who is at the other end of a Unix connection; -EOPNOTSUPP for TCP. `groups` takes up to *count supplementary groups;
// *count becomes their number. -ERANGE: room for *count is needed.
int chttp_peer(struct chttp_request *request, struct chttp_peer *ret_peer, gid_t *groups, unsigned *count);

// A pointer of the caller's that is kept beside the request.
void chttp_set_owner(struct chttp_request *request, void *owner);
void *chttp_owner(const struct chttp_request *request);

// Answers, once; header and body are copied. -EALREADY: there is an answer already; -EINVAL: a header that cannot be
// sent, in which case there is no answer yet. `close` ends the connection after it, and so does a
// server that is at its limit.
int chttp_respond(struct chttp_request *request, unsigned status, const struct chttp_header *headers, size_t count,
                  const uint8_t *body, size_t length, bool close);
// The same with the first `length` bytes of a file for the body, which is read while it is sent. The descriptor is the
// request's from here on, also on failure.
int chttp_respond_file(struct chttp_request *request, unsigned status, const struct chttp_header *headers, size_t count,
                       int descriptor, uint64_t length);
// The same with a body that the hook `next` gives piece by piece, as fast as the client takes it and without a length.
// While the hook has none it costs nothing, and a client that has gone is not noticed.
int chttp_respond_stream(struct chttp_request *request, unsigned status, const struct chttp_header *headers,
                         size_t count);
// The hook `next` has something again, or the end. Does nothing when the client has not taken the last piece yet.
void chttp_more(struct chttp_request *request);
// The client has closed its connection; of TCP that is seen by writing alone.
bool chttp_is_deserted(struct chttp_request *request);

#endif
