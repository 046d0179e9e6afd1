// libmicrohttpd in external epoll mode, its variadic calls and its two-step requests behind CHTTP.h.
#define _GNU_SOURCE
#include "CHTTP.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct chttp_server {
  struct MHD_Daemon *daemon;
  struct chttp_limits limits;
  struct chttp_hooks hooks;
  struct chttp_request *waiting; // the suspended requests
  unsigned connections;
  bool was_full; // at some time since chttp_run was called
  int descriptor;
};

struct chttp_request {
  struct chttp_server *server;
  struct MHD_Connection *connection;
  struct chttp_request *next, *previous; // in server->waiting
  struct MHD_Response *response;
  void *owner;
  char *target;
  const char *method, *version;
  uint8_t *body;
  size_t body_length;      // bytes kept
  size_t body_seen;        // bytes received
  size_t body_capacity;
  unsigned status;
  bool begun, ready, suspended;
};

// A body beyond the limit is read and forgotten, so that the client gets to see the refusal; but not without end.
static const size_t patience = 16;

static bool is_full(const struct chttp_server *s) { return s->connections >= s->limits.connections; }

static void *on_target(void *cls, const char *uri, struct MHD_Connection *connection) {
  struct chttp_request *r = calloc(1, sizeof *r);
  if (r == NULL)
    return NULL;
  r->server = cls;
  r->connection = connection;
  r->target = strdup(uri);
  if (r->target == NULL) {
    free(r);
    return NULL;
  }
  return r;
}

// Paths are decoded once, by their reader, a segment at a time; not here, where %2F and %00 would be lost.
static size_t keep_escapes(void *cls, struct MHD_Connection *connection, char *text) {
  return strlen(text);
}

static enum MHD_Result keep_body(struct chttp_request *r, const char *data, size_t size) {
  size_t limit = r->server->limits.body_bytes;
  if (size > SIZE_MAX - r->body_seen)
    return MHD_NO;
  r->body_seen += size;
  if (r->body_seen > limit) {
    free(r->body);
    r->body = NULL;
    r->body_length = r->body_capacity = 0;
    return r->body_seen / patience > limit ? MHD_NO : MHD_YES;
  }
  if (r->body_seen > r->body_capacity) {
    size_t capacity = r->body_seen * 2 > limit ? limit : r->body_seen * 2;
    uint8_t *grown = realloc(r->body, capacity);
    if (grown == NULL)
      return MHD_NO;
    r->body = grown;
    r->body_capacity = capacity;
  }
  memcpy(r->body + r->body_length, data, size);
  r->body_length += size;
  return MHD_YES;
}

static void wait_for_answer(struct chttp_request *r) {
  struct chttp_server *s = r->server;
  r->suspended = true;
  r->previous = NULL;
  r->next = s->waiting;
  if (r->next != NULL)
    r->next->previous = r;
  s->waiting = r;
  MHD_suspend_connection(r->connection);
}

static void stop_waiting(struct chttp_request *r) {
  if (r->previous != NULL)
    r->previous->next = r->next;
  else
    r->server->waiting = r->next;
  if (r->next != NULL)
    r->next->previous = r->previous;
  r->next = r->previous = NULL;
  r->suspended = false;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
                                  const char *version, const char *data, size_t *size, void **context) {
  struct chttp_server *s = cls;
  struct chttp_request *r = *context;
  if (r == NULL)
    return MHD_NO;
  if (!r->begun) {
    r->begun = true;
    r->method = method;
    r->version = version;
    s->hooks.head(s->hooks.context, r);
    // An ordinary answer waits for the second call: given in the first, libmicrohttpd closes the connection after it.
    return r->response != NULL ? MHD_queue_response(connection, r->status, r->response) : MHD_YES;
  }
  if (*size != 0) {
    enum MHD_Result kept = keep_body(r, data, *size);
    *size = 0;
    return kept;
  }
  if (!r->ready) {
    r->ready = true;
    s->hooks.ready(s->hooks.context, r);
    if (r->response == NULL) {
      wait_for_answer(r);
      return MHD_YES;
    }
  }
  return r->response != NULL ? MHD_queue_response(connection, r->status, r->response) : MHD_NO;
}

static void on_completed(void *cls, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode code) {
  struct chttp_server *s = cls;
  struct chttp_request *r = *context;
  *context = NULL;
  if (r == NULL)
    return;
  if (r->begun)
    s->hooks.gone(s->hooks.context, r);
  if (r->suspended)
    stop_waiting(r);
  if (r->response != NULL)
    MHD_destroy_response(r->response);
  free(r->body);
  free(r->target);
  free(r);
}

static void on_connection(void *cls, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code) {
  struct chttp_server *s = cls;
  if (code == MHD_CONNECTION_NOTIFY_STARTED)
    s->connections++;
  else
    s->connections--;
  s->was_full |= is_full(s);
}

int chttp_start(int listening, const struct chttp_limits *limits, const struct chttp_hooks *hooks,
                struct chttp_server **ret) {
  struct chttp_server *s = calloc(1, sizeof *s);
  if (s == NULL)
    return -ENOMEM;
  s->limits = *limits;
  s->hooks = *hooks;
  // MHD_stop_daemon closes the socket it serves.
  int served = fcntl(listening, F_DUPFD_CLOEXEC, 3);
  if (served < 0) {
    int error = errno;
    free(s);
    return -error;
  }
  errno = 0;
  s->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request, s,
                               MHD_OPTION_LISTEN_SOCKET, served,
                               MHD_OPTION_CONNECTION_LIMIT, limits->connections,
                               MHD_OPTION_CONNECTION_TIMEOUT, limits->idle_seconds,
                               MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits->pool_bytes,
                               MHD_OPTION_URI_LOG_CALLBACK, on_target, s,
                               MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
                               MHD_OPTION_NOTIFY_CONNECTION, on_connection, s,
                               MHD_OPTION_NOTIFY_COMPLETED, on_completed, s,
                               MHD_OPTION_END);
  const union MHD_DaemonInfo *info =
      s->daemon != NULL ? MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
  if (info == NULL) {
    int error = errno != 0 ? errno : EIO;
    if (s->daemon != NULL)
      MHD_stop_daemon(s->daemon);
    else
      close(served);
    free(s);
    return -error;
  }
  s->descriptor = info->epoll_fd;
  *ret = s;
  return 0;
}

void chttp_stop(struct chttp_server *s) {
  // A daemon with suspended connections cannot be stopped: libmicrohttpd aborts the process.
  while (s->waiting != NULL) {
    struct chttp_request *r = s->waiting;
    stop_waiting(r);
    MHD_resume_connection(r->connection);
  }
  MHD_stop_daemon(s->daemon);
  free(s);
}

int chttp_descriptor(const struct chttp_server *s) { return s->descriptor; }

unsigned chttp_connections(const struct chttp_server *s) { return s->connections; }

int chttp_run(struct chttp_server *s) {
  s->was_full = is_full(s);
  return MHD_run(s->daemon) == MHD_YES ? 0 : -EIO;
}

int64_t chttp_timeout(struct chttp_server *s) {
  // At the limit libmicrohttpd stops watching the listening socket. It looks whether there is room again before it
  // clears away the connections that have ended, so only one more turn takes up the clients that wait.
  if (s->was_full && !is_full(s))
    return 0;
  MHD_UNSIGNED_LONG_LONG milliseconds;
  if (MHD_get_timeout(s->daemon, &milliseconds) != MHD_YES)
    return -1;
  return milliseconds > INT32_MAX ? INT32_MAX : (int64_t)milliseconds;
}

const char *chttp_method(const struct chttp_request *r) { return r->method; }
const char *chttp_version(const struct chttp_request *r) { return r->version; }
const char *chttp_target(const struct chttp_request *r) { return r->target; }

struct each_header {
  void *context;
  void (*each)(void *, const char *, size_t, const char *, size_t);
};

static enum MHD_Result on_header(void *cls, enum MHD_ValueKind kind, const char *name, size_t name_length,
                                 const char *value, size_t value_length) {
  const struct each_header *caller = cls;
  caller->each(caller->context, name, name_length, value != NULL ? value : "", value != NULL ? value_length : 0);
  return MHD_YES;
}

void chttp_each_header(struct chttp_request *r, void *context,
                       void (*each)(void *context, const char *name, size_t name_length, const char *value,
                                    size_t value_length)) {
  struct each_header caller = {context, each};
  MHD_get_connection_values_n(r->connection, MHD_HEADER_KIND, on_header, &caller);
}

int chttp_body(const struct chttp_request *r, const uint8_t **ret_bytes, size_t *ret_length) {
  if (r->body_seen > r->server->limits.body_bytes)
    return -EMSGSIZE;
  *ret_bytes = r->body;
  *ret_length = r->body_length;
  return 0;
}

int chttp_peer(struct chttp_request *r, struct chttp_peer *ret_peer, gid_t *groups, unsigned *count) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  if (info == NULL)
    return -EOPNOTSUPP;
  int domain = 0;
  socklen_t length = sizeof domain;
  if (getsockopt(info->connect_fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) < 0)
    return -errno;
  if (domain != AF_UNIX)
    return -EOPNOTSUPP;
  struct ucred credentials;
  length = sizeof credentials;
  if (getsockopt(info->connect_fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0)
    return -errno;
  length = *count * sizeof *groups;
  // SO_PEERCRED has the primary group alone.
  if (getsockopt(info->connect_fd, SOL_SOCKET, SO_PEERGROUPS, groups, &length) < 0) {
    if (errno == ERANGE)
      *count = length / sizeof *groups;
    return -errno;
  }
  *count = length / sizeof *groups;
  *ret_peer = (struct chttp_peer){.pid = credentials.pid, .uid = credentials.uid, .gid = credentials.gid};
  return 0;
}

void chttp_set_owner(struct chttp_request *r, void *owner) { r->owner = owner; }
void *chttp_owner(const struct chttp_request *r) { return r->owner; }

static void go_on(struct chttp_request *r) {
  stop_waiting(r);
  // libmicrohttpd has a descriptor to wake itself only in its modes with threads.
  MHD_resume_connection(r->connection);
  r->server->hooks.wake(r->server->hooks.context);
}

static int respond(struct chttp_request *r, unsigned status, const struct chttp_header *headers, size_t count,
                   struct MHD_Response *response, bool close) {
  if (response == NULL)
    return -ENOMEM;
  enum MHD_Result added = MHD_YES;
  for (size_t i = 0; i < count && added == MHD_YES; i++)
    added = MHD_add_response_header(response, headers[i].name, headers[i].value);
  // Idle connections must not keep out those that wait for a place.
  if (added == MHD_YES && (close || is_full(r->server)))
    added = MHD_add_response_header(response, "Connection", "close");
  if (added != MHD_YES) {
    MHD_destroy_response(response);
    return -EINVAL;
  }
  r->response = response;
  r->status = status;
  if (r->suspended)
    go_on(r);
  return 0;
}

int chttp_respond(struct chttp_request *r, unsigned status, const struct chttp_header *headers, size_t count,
                  const uint8_t *body, size_t length, bool close) {
  if (r->response != NULL)
    return -EALREADY;
  struct MHD_Response *response = MHD_create_response_from_buffer(length, (void *)body, MHD_RESPMEM_MUST_COPY);
  return respond(r, status, headers, count, response, close);
}

int chttp_respond_file(struct chttp_request *r, unsigned status, const struct chttp_header *headers, size_t count,
                       int descriptor, uint64_t length) {
  struct MHD_Response *response = r->response == NULL ? MHD_create_response_from_fd64(length, descriptor) : NULL;
  if (response == NULL) {
    close(descriptor);
    return r->response != NULL ? -EALREADY : -ENOMEM;
  }
  // Once made, it closes the descriptor when it is destroyed.
  return respond(r, status, headers, count, response, true);
}

static ssize_t on_next(void *cls, uint64_t position, char *bytes, size_t size) {
  struct chttp_request *r = cls;
  ssize_t count = r->server->hooks.next(r->server->hooks.context, r, (uint8_t *)bytes, size);
  if (count < 0)
    return MHD_CONTENT_READER_END_OF_STREAM;
  // Asked again at once it would be a busy loop.
  if (count == 0)
    wait_for_answer(r);
  return count;
}

int chttp_respond_stream(struct chttp_request *r, unsigned status, const struct chttp_header *headers, size_t count) {
  if (r->response != NULL)
    return -EALREADY;
  struct MHD_Response *response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, on_next, r, NULL);
  return respond(r, status, headers, count, response, false);
}

void chttp_more(struct chttp_request *r) {
  if (r->suspended)
    go_on(r);
}

bool chttp_is_deserted(struct chttp_request *r) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  if (info == NULL)
    return false;
  struct pollfd watched = {.fd = info->connect_fd};
  return poll(&watched, 1, 0) > 0 && (watched.revents & (POLLHUP | POLLERR)) != 0;
}
