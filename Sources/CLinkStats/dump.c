// Asking the kernel for all links and all counters: the request, the answer in parts, and its interruptions.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "CLinkStats.h"
#include "lists.h"
#include "parse.h"
#include "socket.h"

// A list that changes faster than this is taken as it is: counters are cumulative, and the events tell the rest.
enum { TRIES = 5 };

struct ls_requests {
  struct nl_sock *socket;  // NULL: open a new one first
  int lacks_getstats;
  char buffer[LS_RECEIVE_SIZE] __attribute__((aligned(NLMSG_ALIGNTO)));
};

static void abandon(struct ls_requests *requests) {
  if (requests->socket) nl_socket_free(requests->socket);
  requests->socket = NULL;
}

static int connect_socket(struct ls_requests *requests) {
  if (requests->socket) return 0;
  struct nl_sock *handle = nl_socket_alloc();
  if (handle == NULL) return -ENOMEM;
  const int descriptor = ls_socket_open(0);
  if (descriptor < 0) {
    nl_socket_free(handle);
    return descriptor;
  }
  // The kernel writes a dump while we receive, however long it waits for its own lock; only a lost answer takes time.
  const struct timeval patience = {.tv_sec = 5};
  int error = setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0 ? -errno : 0;
  if (error == 0 && nl_socket_set_fd(handle, NETLINK_ROUTE, descriptor) < 0) error = -EIO;
  if (error < 0) {
    close(descriptor);
    nl_socket_free(handle);
    return error;
  }
  nl_socket_disable_auto_ack(handle);
  requests->socket = handle;
  return 0;
}

int ls_requests_open(struct ls_requests **ret_requests) {
  struct ls_requests *requests = malloc(sizeof *requests);
  if (requests == NULL) return -ENOMEM;
  requests->socket = NULL;
  requests->lacks_getstats = 0;
  const int error = connect_socket(requests);
  if (error < 0) {
    free(requests);
    return error;
  }
  *ret_requests = requests;
  return 0;
}

void ls_requests_close(struct ls_requests *requests) {
  if (requests == NULL) return;
  abandon(requests);
  free(requests);
}

void ls_requests_without_getstats(struct ls_requests *requests) { requests->lacks_getstats = 1; }

int ls_requests_lack_getstats(const struct ls_requests *requests) { return requests->lacks_getstats; }

// Returns 0 with the sequence number that the answer will bear.
static int ask(struct ls_requests *requests, int type, const void *payload, size_t length, uint32_t *ret_sequence) {
  struct nl_msg *message = nlmsg_alloc_size(NLMSG_HDRLEN + NLMSG_ALIGN(length));
  if (message == NULL) return -ENOMEM;
  int error = 0;
  if (nlmsg_put(message, NL_AUTO_PORT, NL_AUTO_SEQ, type, 0, NLM_F_DUMP) == NULL ||
      nlmsg_append(message, (void *)payload, length, NLMSG_ALIGNTO) < 0) {
    error = -ENOMEM;
  } else {
    // libnl's own error numbers lose the difference between ENOBUFS and ENOMEM; errno is still that of sendmsg.
    errno = 0;
    if (nl_send_auto(requests->socket, message) < 0) error = errno ? -errno : -EIO;
    *ret_sequence = nlmsg_hdr(message)->nlmsg_seq;
  }
  nlmsg_free(message);
  return error;
}

typedef int message_taker(void *into, const struct nlmsghdr *header);

// The error that an NLMSG_ERROR or NLMSG_DONE holds in its first bytes: a negative errno or 0.
static int error_in(const struct nlmsghdr *header) {
  int error;
  if (nlmsg_datalen(header) < (int)sizeof error) return header->nlmsg_type == NLMSG_DONE ? 0 : -EBADMSG;
  memcpy(&error, nlmsg_data(header), sizeof error);
  return error > 0 ? -EBADMSG : error;
}

// Returns 0 or 1 (interrupted) when the dump has ended, or a negative errno. *ret_ended tells whether the kernel ended
// it, so that the socket is good for another.
static int collect(struct ls_requests *requests, uint32_t sequence, message_taker *take, void *into,
                   uint32_t *foreign, int *ret_ended) {
  const int descriptor = nl_socket_get_fd(requests->socket);
  int interrupted = 0;
  *ret_ended = 0;
  for (;;) {
    const ssize_t length = ls_socket_receive(descriptor, requests->buffer, sizeof requests->buffer, foreign, NULL);
    if (length < 0) return length == -EAGAIN ? -ETIMEDOUT : (int)length;
    const struct nlmsghdr *header = (const struct nlmsghdr *)requests->buffer;
    int left = (int)length;
    for (; nlmsg_ok(header, left); header = nlmsg_next((struct nlmsghdr *)header, &left)) {
      if (header->nlmsg_seq != sequence) continue;
      if (header->nlmsg_flags & NLM_F_DUMP_INTR) interrupted = 1;
      if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR) {
        const int error = error_in(header);
        *ret_ended = 1;
        return error < 0 ? error : interrupted;
      }
      const int error = take(into, header);
      if (error < 0) return error;
    }
    if (left > 0) return -EBADMSG;
  }
}

// Dumps into the list that `count` belongs to, which starts anew with each try.
static int dump(struct ls_requests *requests, int type, const void *payload, size_t length, message_taker *take,
                void *into, size_t *count, struct ls_dump_report *report) {
  for (int tries = 1;; tries++) {
    *count = 0;
    int error = connect_socket(requests);
    if (error < 0) return error;
    uint32_t sequence = 0;
    int ended = 0;
    error = ask(requests, type, payload, length, &sequence);
    if (error == 0) error = collect(requests, sequence, take, into, &report->foreign, &ended);
    if (error < 0) {
      if (!ended) abandon(requests);
      *count = 0;
      return error;
    }
    report->interrupted = (uint32_t)error;
    if (!report->interrupted || tries == TRIES) return 0;
    report->retries += 1;
  }
}

static int take_link(void *into, const struct nlmsghdr *header) {
  struct ls_links *links = into;
  if (header->nlmsg_type != RTM_NEWLINK) return 0;
  int error = ls_make_room(&links->items, links->count, &links->capacity, sizeof *links->items);
  if (error < 0) return error;
  error = ls_parse_link(header, &links->items[links->count]);
  if (error == LS_LINK) links->count += 1;
  return error;
}

static int take_counters(void *into, const struct nlmsghdr *header) {
  struct ls_stats *stats = into;
  int error = ls_make_room(&stats->items, stats->count, &stats->capacity, sizeof *stats->items);
  if (error < 0) return error;
  struct ls_stat *next = &stats->items[stats->count];
  if (header->nlmsg_type == RTM_NEWSTATS) {
    error = ls_parse_stats(header, next);
  } else if (header->nlmsg_type == RTM_NEWLINK) {
    error = ls_parse_link_counters(header, next);
  }
  if (error == LS_STATS) stats->count += 1;
  return error;
}

int ls_list_links(struct ls_requests *requests, struct ls_links *links, struct ls_dump_report *ret_report) {
  const struct ifinfomsg all = {.ifi_family = AF_UNSPEC};
  struct ls_dump_report report = {0};
  const int error = dump(requests, RTM_GETLINK, &all, sizeof all, take_link, links, &links->count, &report);
  if (error < 0) return error;
  *ret_report = report;
  return 0;
}

int ls_dump_counters(struct ls_requests *requests, struct ls_stats *stats, struct ls_dump_report *ret_report) {
  const struct if_stats_msg counters_of_all = {
      .family = AF_UNSPEC, .filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64)};
  const struct ifinfomsg all = {.ifi_family = AF_UNSPEC};
  struct ls_dump_report report = {0};
  int error = -EOPNOTSUPP;
  if (!requests->lacks_getstats) {
    error = dump(requests, RTM_GETSTATS, &counters_of_all, sizeof counters_of_all, take_counters, stats, &stats->count,
                 &report);
    if (error == -EOPNOTSUPP || error == -EINVAL) requests->lacks_getstats = 1;
  }
  if (requests->lacks_getstats)
    error = dump(requests, RTM_GETLINK, &all, sizeof all, take_counters, stats, &stats->count, &report);
  if (error < 0) return error;
  *ret_report = report;
  return 0;
}
