// Questions to the kernel's routes. libnl-route's own lookup takes no firewall mark, without which the route of a VPN
// that marks its packets leads into the VPN itself, so the question is made and its answer read here.
#include "ls_routes.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "socket.h"

enum {
  ANSWER_SIZE = 4096,
  MESSAGES_MAX = 4096,  // of a table: a router holds a million routes
};

// The attributes behind a route's header in *ret_first; their length, the kernel's error, or -EBADMSG.
static int attributes(const void *bytes, size_t length, const struct rtmsg **ret_route, const struct nlattr **ret_first) {
  const struct nlmsghdr *header = bytes;
  if ((uintptr_t)bytes % NLMSG_ALIGNTO != 0) return -EINVAL;
  if (length < sizeof *header || header->nlmsg_len < sizeof *header || header->nlmsg_len > length) return -EBADMSG;
  const size_t payload = header->nlmsg_len - sizeof *header;
  if (header->nlmsg_type == NLMSG_ERROR) {
    const struct nlmsgerr *error = nlmsg_data(header);
    return payload >= sizeof error->error && error->error < 0 && error->error > -4096 ? error->error : -EBADMSG;
  }
  if (header->nlmsg_type != RTM_NEWROUTE || payload < sizeof(struct rtmsg) || payload > INT32_MAX) return -EBADMSG;
  *ret_route = nlmsg_data(header);
  *ret_first = (const struct nlattr *)((const uint8_t *)nlmsg_data(header) + sizeof(struct rtmsg));
  return (int)(payload - sizeof(struct rtmsg));
}

static uint32_t u32_in(const struct nlattr *attribute) {
  return attribute && nla_len(attribute) >= 4 ? nla_get_u32(attribute) : 0;
}

int ls_route_parse(const void *bytes, size_t length, uint32_t *ret_ifindex) {
  const struct rtmsg *route = NULL;
  const struct nlattr *first = NULL;
  const int size = attributes(bytes, length, &route, &first);
  if (size < 0) return size;
  const uint32_t ifindex = u32_in(nla_find(first, size, RTA_OIF));
  if (ifindex == 0) return -EBADMSG;
  *ret_ifindex = ifindex;
  return 0;
}

static int append(uint32_t *ifindexes, int count, size_t capacity, uint32_t ifindex) {
  if (ifindex == 0 || (size_t)count >= capacity) return count;
  for (int i = 0; i < count; i++) {
    if (ifindexes[i] == ifindex) return count;
  }
  ifindexes[count] = ifindex;
  return count + 1;
}

int ls_default_routes_parse(const void *bytes, size_t length, uint32_t *ifindexes, size_t count, size_t capacity) {
  const struct rtmsg *route = NULL;
  const struct nlattr *first = NULL;
  const int size = attributes(bytes, length, &route, &first);
  if (size < 0) return size;
  int now = (int)count;
  if (route->rtm_dst_len != 0 || route->rtm_type != RTN_UNICAST || route->rtm_table != RT_TABLE_MAIN) return now;
  now = append(ifindexes, now, capacity, u32_in(nla_find(first, size, RTA_OIF)));
  const struct nlattr *several = nla_find(first, size, RTA_MULTIPATH);
  int left = several ? nla_len(several) : 0;
  const uint8_t *at = several ? nla_data(several) : NULL;
  while (left >= (int)sizeof(struct rtnexthop)) {
    struct rtnexthop hop;
    memcpy(&hop, at, sizeof hop);
    if (hop.rtnh_len < sizeof hop || (int)RTNH_ALIGN(hop.rtnh_len) > left) break;
    now = append(ifindexes, now, capacity, hop.rtnh_ifindex > 0 ? (uint32_t)hop.rtnh_ifindex : 0);
    at += RTNH_ALIGN(hop.rtnh_len);
    left -= (int)RTNH_ALIGN(hop.rtnh_len);
  }
  return now;
}

static int send_question(int descriptor, struct nl_msg *message) {
  struct nlmsghdr *header = nlmsg_hdr(message);
  return send(descriptor, header, header->nlmsg_len, 0) < 0 ? -errno : 0;
}

int ls_route_lookup(const struct ls_endpoint *endpoint, uint32_t *ret_ifindex) {
  const uint8_t size = endpoint->remote_length;
  if (size != 4 && size != 16) return -EINVAL;
  struct rtmsg route = {.rtm_family = size == 4 ? AF_INET : AF_INET6, .rtm_dst_len = (uint8_t)(size * 8)};
  struct nl_msg *message = nlmsg_alloc_size(512);
  if (message == NULL) return -ENOMEM;
  if (endpoint->local_length == size) route.rtm_src_len = (uint8_t)(size * 8);
  int code = -ENOMEM;
  if (nlmsg_put(message, 0, 1, RTM_GETROUTE, 0, NLM_F_REQUEST) && nlmsg_append(message, &route, sizeof route, 4) == 0 &&
      nla_put(message, RTA_DST, size, endpoint->remote) == 0 &&
      (endpoint->local_length != size || nla_put(message, RTA_SRC, size, endpoint->local) == 0) &&
      (endpoint->mark == 0 || nla_put_u32(message, RTA_MARK, endpoint->mark) == 0)) {
    const int descriptor = ls_socket_open(SOCK_NONBLOCK);
    code = descriptor < 0 ? descriptor : send_question(descriptor, message);
    if (code == 0) {
      // Answered by the time that it was sent.
      _Alignas(struct nlmsghdr) uint8_t answer[ANSWER_SIZE];
      uint32_t foreign = 0;
      const ssize_t length = ls_socket_receive(descriptor, answer, sizeof answer, &foreign, NULL);
      code = length < 0 ? (int)length : ls_route_parse(answer, (size_t)length, ret_ifindex);
    }
    if (descriptor >= 0) close(descriptor);
  }
  nlmsg_free(message);
  return code;
}

// Reads one family's table; the number of links now, or a negative errno.
static int read_table(int descriptor, uint8_t family, uint32_t *ifindexes, int count, size_t capacity) {
  const struct {
    struct nlmsghdr header;
    struct rtmsg route;
  } question = {
      .header = {.nlmsg_len = sizeof question, .nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
      .route = {.rtm_family = family, .rtm_table = RT_TABLE_MAIN},
  };
  if (send(descriptor, &question, sizeof question, 0) < 0) return -errno;
  static _Alignas(struct nlmsghdr) uint8_t answer[LS_RECEIVE_SIZE];
  uint32_t foreign = 0;
  for (int seen = 0; seen < MESSAGES_MAX;) {
    const ssize_t length = ls_socket_receive(descriptor, answer, sizeof answer, &foreign, NULL);
    if (length < 0) return (int)length;
    const struct nlmsghdr *header = (const struct nlmsghdr *)answer;
    int left = (int)length;
    for (; nlmsg_ok(header, left); header = nlmsg_next((struct nlmsghdr *)header, &left), seen++) {
      if (header->nlmsg_type == NLMSG_DONE) return count;
      const int now = ls_default_routes_parse(header, (size_t)left, ifindexes, (size_t)count, capacity);
      if (now < 0) return now;
      count = now;
    }
  }
  return count;
}

int ls_default_routes(uint32_t *ret_ifindexes, size_t capacity) {
  static const uint8_t families[] = {AF_INET, AF_INET6};
  int count = 0;
  for (size_t i = 0; i < sizeof families; i++) {
    // A socket for each: an unfinished dump goes with it.
    const int descriptor = ls_socket_open(SOCK_NONBLOCK);
    if (descriptor < 0) return descriptor;
    const int now = read_table(descriptor, families[i], ret_ifindexes, count, capacity);
    close(descriptor);
    // A kernel without IPv6 refuses its table.
    if (now < 0 && families[i] == AF_INET) return now;
    if (now >= 0) count = now;
  }
  return count;
}
