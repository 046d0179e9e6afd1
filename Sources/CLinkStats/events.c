// The socket that hears of links: its receive buffer, taking one over, and reading it until it is empty.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "CLinkStats.h"
#include "parse.h"
#include "socket.h"

struct ls_events {
  int descriptor;
  char buffer[LS_RECEIVE_SIZE] __attribute__((aligned(NLMSG_ALIGNTO)));
};

static int join_links(int descriptor) {
  const int group = RTNLGRP_LINK;
  return setsockopt(descriptor, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) < 0 ? -errno : 0;
}

static int hold(int descriptor, struct ls_events **ret_events) {
  struct ls_events *events = malloc(sizeof *events);
  if (events == NULL) return -ENOMEM;
  events->descriptor = descriptor;
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

int ls_events_adopt(int descriptor, struct ls_events **ret_events) {
  const int domain = option_of(descriptor, SO_DOMAIN);
  if (domain < 0) return domain;
  if (domain != AF_NETLINK || option_of(descriptor, SO_PROTOCOL) != NETLINK_ROUTE) return -EPROTOTYPE;
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0 || fcntl(descriptor, F_SETFD, FD_CLOEXEC) < 0)
    return -errno;
  const int error = join_links(descriptor);
  return error < 0 ? error : hold(descriptor, ret_events);
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

static void deliver(const char *buffer, int length, ls_event_handler *handler, void *context,
                    struct ls_drain_report *report) {
  const struct nlmsghdr *header = (const struct nlmsghdr *)buffer;
  int left = length;
  for (; nlmsg_ok(header, left); header = nlmsg_next((struct nlmsghdr *)header, &left)) {
    if (header->nlmsg_type != RTM_NEWLINK && header->nlmsg_type != RTM_DELLINK) continue;
    struct ls_link link;
    const int what = ls_parse_link(header, &link);
    if (what < 0) report->malformed += 1;
    if (what <= 0) continue;
    report->events += 1;
    handler(context, what, &link);
  }
  if (left > 0) report->malformed += 1;
}

int ls_events_drain(struct ls_events *events, ls_event_handler *handler, void *context,
                    struct ls_drain_report *ret_report) {
  struct ls_drain_report report = {0};
  for (;;) {
    const ssize_t length = ls_socket_receive(events->descriptor, events->buffer, sizeof events->buffer,
                                             &report.foreign);
    if (length == -EAGAIN) break;
    if (length == -ENOBUFS || length == -EMSGSIZE) {
      // Told before what is still queued, which is older than the loss: go on to the end.
      report.overrun = 1;
      continue;
    }
    if (length < 0) return (int)length;
    deliver(events->buffer, (int)length, handler, context, &report);
  }
  *ret_report = report;
  return 0;
}
