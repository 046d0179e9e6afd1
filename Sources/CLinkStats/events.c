// The socket that hears of links: its receive buffer, taking one over, and reading it until it is empty.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "CLinkStats.h"
#include "parse.h"
#include "socket.h"

struct ls_events {
  int descriptor;
  int hears_others;
  // The id that this namespace has given to itself, LS_HERE for none; to be asked for again when stale.
  int32_t own_id;
  int own_id_is_stale;
  char buffer[LS_RECEIVE_SIZE] __attribute__((aligned(NLMSG_ALIGNTO)));
};

static int set_option(int descriptor, int option, int value) {
  return setsockopt(descriptor, SOL_NETLINK, option, &value, sizeof value) < 0 ? -errno : 0;
}

static int join_links(int descriptor) {
  // Kernels before 4.9 tell nobody of namespaces that end; it goes on without.
  (void)set_option(descriptor, NETLINK_ADD_MEMBERSHIP, RTNLGRP_NSID);
  return set_option(descriptor, NETLINK_ADD_MEMBERSHIP, RTNLGRP_LINK);
}

static int hold(int descriptor, struct ls_events **ret_events) {
  struct ls_events *events = malloc(sizeof *events);
  if (events == NULL) return -ENOMEM;
  events->descriptor = descriptor;
  events->own_id = LS_HERE;
  // Without our own id events of this namespace could pass for another's: then only its own are heard.
  events->own_id_is_stale = ls_own_namespace(&events->own_id) < 0;
  events->hears_others =
      !events->own_id_is_stale && set_option(descriptor, NETLINK_LISTEN_ALL_NSID, 1) == 0;
  *ret_events = events;
  return 0;
}

int ls_events_open(uint32_t receive_buffer, struct ls_events **ret_events) {
  const int descriptor = ls_socket_open(SOCK_NONBLOCK);
  if (descriptor < 0) return descriptor;
  // Before joining, so that the first events already find the room. Less than asked for is no failure: the caller sees
  // what was given.
  const int bytes = receive_buffer > INT32_MAX / 2 ? INT32_MAX / 2 : (int)receive_buffer;
  if (setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) < 0)
    (void)setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  int error = join_links(descriptor);
  if (error == 0) error = hold(descriptor, ret_events);
  if (error < 0) close(descriptor);
  return error;
}

static int option_of(int descriptor, int option) {
  int value = 0;
  socklen_t size = sizeof value;
  return getsockopt(descriptor, SOL_SOCKET, option, &value, &size) < 0 ? -errno : value;
}

int ls_events_is_queue(int descriptor) {
  return option_of(descriptor, SO_DOMAIN) == AF_NETLINK && option_of(descriptor, SO_PROTOCOL) == NETLINK_ROUTE;
}

// Kernels before 5.14 have no cookies; there a socket is believed to be of our namespace.
static int is_of_another_namespace(int descriptor) {
  uint64_t theirs = 0, ours = 0;
  socklen_t size = sizeof theirs;
  if (getsockopt(descriptor, SOL_SOCKET, SO_NETNS_COOKIE, &theirs, &size) < 0) return 0;
  const int own = ls_socket_open(SOCK_NONBLOCK);
  if (own < 0) return own;
  size = sizeof ours;
  const int error = getsockopt(own, SOL_SOCKET, SO_NETNS_COOKIE, &ours, &size) < 0 ? -errno : 0;
  close(own);
  return error < 0 ? error : theirs != ours;
}

int ls_events_adopt(int descriptor, struct ls_events **ret_events) {
  const int domain = option_of(descriptor, SO_DOMAIN);
  if (domain < 0) return domain;
  if (!ls_events_is_queue(descriptor)) return -EPROTOTYPE;
  const int is_strange = is_of_another_namespace(descriptor);
  if (is_strange != 0) return is_strange < 0 ? is_strange : -EXDEV;
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0 || fcntl(descriptor, F_SETFD, FD_CLOEXEC) < 0)
    return -errno;
  const int error = join_links(descriptor);
  return error < 0 ? error : hold(descriptor, ret_events);
}

void ls_events_refuse(int descriptor) {
  // Its other holder keeps it open: without a group it hears nothing more.
  (void)set_option(descriptor, NETLINK_DROP_MEMBERSHIP, RTNLGRP_LINK);
  (void)set_option(descriptor, NETLINK_DROP_MEMBERSHIP, RTNLGRP_NSID);
  char scrap;
  // Far more than fits: what nobody sends any more comes to an end.
  for (int left = 1 << 20; left > 0; left--)
    if (recv(descriptor, &scrap, sizeof scrap, MSG_DONTWAIT) < 0 && errno != ENOBUFS && errno != EINTR) break;
  close(descriptor);
}

void ls_events_close(struct ls_events *events) {
  if (events == NULL) return;
  close(events->descriptor);
  free(events);
}

int ls_events_descriptor(const struct ls_events *events) { return events->descriptor; }

uint32_t ls_events_receive_buffer(const struct ls_events *events) {
  const int bytes = option_of(events->descriptor, SO_RCVBUF);
  return bytes > 0 ? (uint32_t)bytes : 0;
}

int ls_events_hear_others(const struct ls_events *events) { return events->hears_others; }

// LS_HERE also for the id that this namespace has given to itself.
static int32_t place(struct ls_events *events, int32_t where, struct ls_drain_report *report) {
  if (where == LS_HERE) return LS_HERE;
  if (events->own_id_is_stale) {
    // Unknown, it may be one of ours that is taken for another's: as good as lost.
    if (ls_own_namespace(&events->own_id) < 0) report->overrun = 1;
    else events->own_id_is_stale = 0;
  }
  return where == events->own_id ? LS_HERE : where;
}

static int is_veth(const struct ls_link *link) {
  return link->kind_length == 4 && memcmp(link->kind, "veth", 4) == 0;
}

// What a message of the namespace `where` is to the handler: 0 when nothing. Of other namespaces only a veth end that
// goes is of concern, since what it sent is what its other end, which may be here, received.
static int read_event(struct ls_events *events, const struct nlmsghdr *header, int32_t *where, struct ls_link *link) {
  int what;
  int32_t id = LS_HERE;
  switch (header->nlmsg_type) {
    case RTM_NEWLINK: return *where == LS_HERE ? ls_parse_link(header, link) : LS_IGNORED;
    case RTM_DELLINK:
      what = ls_parse_link(header, link);
      return what < 0 || *where == LS_HERE || is_veth(link) ? what : LS_IGNORED;
    case RTM_NEWNSID:
      // Also when it seems another's: it bears our own new id where that is what it tells.
      events->own_id_is_stale = 1;
      return LS_IGNORED;
    case RTM_DELNSID:
      if (*where != LS_HERE) return LS_IGNORED;  // the id is one that the other namespace gave
      what = ls_parse_namespace(header, &id);
      if (what == LS_NAMESPACE_GONE) *where = id;
      return what;
  }
  return LS_IGNORED;
}

static void deliver(struct ls_events *events, int length, int32_t where, ls_event_handler *handler, void *context,
                    struct ls_drain_report *report) {
  const struct nlmsghdr *header = (const struct nlmsghdr *)events->buffer;
  int left = length;
  for (; nlmsg_ok(header, left); header = nlmsg_next((struct nlmsghdr *)header, &left)) {
    struct ls_link link;
    int32_t at = where;
    const int what = read_event(events, header, &at, &link);
    if (what < 0) report->malformed += 1;
    if (what <= 0) continue;
    report->events += 1;
    handler(context, what, at, what == LS_NAMESPACE_GONE ? NULL : &link);
  }
  if (left > 0) report->malformed += 1;
}

int ls_events_drain(struct ls_events *events, ls_event_handler *handler, void *context,
                    struct ls_drain_report *ret_report) {
  struct ls_drain_report report = {0};
  for (;;) {
    int32_t where = LS_HERE;
    const ssize_t length = ls_socket_receive(events->descriptor, events->buffer, sizeof events->buffer,
                                             &report.foreign, &where);
    if (length == -EAGAIN) break;
    if (length == -ENOBUFS || length == -EMSGSIZE) {
      // Told before what is still queued, which is older than the loss: go on to the end.
      report.overrun = 1;
      continue;
    }
    if (length < 0) return (int)length;
    deliver(events, (int)length, place(events, where, &report), handler, context, &report);
  }
  *ret_report = report;
  return 0;
}
