// One question to WireGuard. Whoever may ask also gets the private key: it is wiped with the rest of the answer.
#define _GNU_SOURCE
#include "ls_wireguard.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/wireguard.h>
#include <netinet/in.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ls_wireless.h"
#include "socket.h"

enum { ANSWER_SIZE = 32 * 1024, MESSAGES_MAX = 64 };

// Attributes behind the generic header; their length, the kernel's error, or -EBADMSG.
static int attributes(const void *bytes, size_t length, uint16_t family, const struct nlattr **ret_first) {
  const struct nlmsghdr *header = bytes;
  if ((uintptr_t)bytes % NLMSG_ALIGNTO != 0) return -EINVAL;
  if (length < sizeof *header || header->nlmsg_len < sizeof *header || header->nlmsg_len > length) return -EBADMSG;
  const size_t payload = header->nlmsg_len - sizeof *header;
  if (header->nlmsg_type == NLMSG_ERROR || header->nlmsg_type == NLMSG_DONE) {
    int error = 0;
    if (payload >= sizeof error) memcpy(&error, nlmsg_data(header), sizeof error);
    return error < 0 && error > -4096 ? error : -EBADMSG;
  }
  if (header->nlmsg_type != family || payload < GENL_HDRLEN || payload > INT32_MAX) return -EBADMSG;
  *ret_first = (const struct nlattr *)((const uint8_t *)nlmsg_data(header) + GENL_HDRLEN);
  return (int)(payload - GENL_HDRLEN);
}

static int far_end(const struct nlattr *peer, struct ls_endpoint *ret) {
  const struct nlattr *at = nla_find(nla_data(peer), nla_len(peer), WGPEER_A_ENDPOINT);
  struct sockaddr_in narrow;
  struct sockaddr_in6 wide;
  *ret = (struct ls_endpoint){0};
  if (at && nla_len(at) == sizeof narrow) {
    memcpy(&narrow, nla_data(at), sizeof narrow);
    memcpy(ret->remote, &narrow.sin_addr, 4);
    ret->remote_length = narrow.sin_family == AF_INET ? 4 : 0;
  } else if (at && nla_len(at) == sizeof wide) {
    memcpy(&wide, nla_data(at), sizeof wide);
    memcpy(ret->remote, &wide.sin6_addr, 16);
    ret->remote_length = wide.sin6_family == AF_INET6 ? 16 : 0;
  }
  return ret->remote_length > 0;
}

int ls_wireguard_parse(const void *bytes, size_t length, uint16_t family, struct ls_endpoint *endpoints, size_t count,
                       size_t capacity, uint32_t *mark) {
  const struct nlattr *first = NULL;
  const int size = attributes(bytes, length, family, &first);
  if (size < 0) return size;
  const struct nlattr *told = nla_find(first, size, WGDEVICE_A_FWMARK);
  if (told && nla_len(told) >= 4) *mark = nla_get_u32(told);
  const struct nlattr *peers = nla_find(first, size, WGDEVICE_A_PEERS);
  int left = peers ? nla_len(peers) : 0;
  for (const struct nlattr *at = peers ? nla_data(peers) : NULL; at && nla_ok(at, left); at = nla_next(at, &left)) {
    if (count < capacity && far_end(at, &endpoints[count])) count++;
  }
  return (int)count;
}

static int ask(int descriptor, uint16_t family, uint16_t flags, uint8_t command, uint16_t type, const void *value,
               uint16_t size) {
  struct {
    struct nlmsghdr header;
    struct genlmsghdr generic;
    struct nlattr attribute;
    uint8_t payload[16];
  } request = {
      .header = {.nlmsg_type = family, .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags)},
      .generic = {.cmd = command, .version = 1},
      .attribute = {.nla_len = (uint16_t)(NLA_HDRLEN + size), .nla_type = type},
  };
  request.header.nlmsg_len = (uint32_t)(sizeof request - sizeof request.payload + NLA_ALIGN(size));
  memcpy(request.payload, value, size);
  return send(descriptor, &request, request.header.nlmsg_len, 0) < 0 ? -errno : 0;
}

static int read_peers(int descriptor, uint16_t family, uint8_t *answer, struct ls_endpoint *endpoints,
                      size_t capacity) {
  uint32_t foreign = 0, mark = 0;
  int count = 0;
  for (int seen = 0; seen < MESSAGES_MAX;) {
    const ssize_t length = ls_socket_receive(descriptor, answer, ANSWER_SIZE, &foreign, NULL);
    if (length < 0) return (int)length;
    const struct nlmsghdr *header = (const struct nlmsghdr *)answer;
    int left = (int)length;
    for (; nlmsg_ok(header, left); header = nlmsg_next((struct nlmsghdr *)header, &left), seen++) {
      const int now = ls_wireguard_parse(header, (size_t)left, family, endpoints, (size_t)count, capacity, &mark);
      const int ends = header->nlmsg_type == NLMSG_DONE && now == -EBADMSG;
      if (now < 0 && !ends) return now;
      if (!ends) count = now;
      for (int i = 0; i < count; i++) endpoints[i].mark = mark;
      if (ends) return count;
    }
  }
  return count;
}

int ls_wireguard_ask(uint32_t ifindex, struct ls_endpoint *ret_endpoints, size_t capacity) {
  static const char name[] = WG_GENL_NAME;
  const int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_GENERIC);
  if (descriptor < 0) return -errno;
  _Alignas(struct nlmsghdr) uint8_t answer[ANSWER_SIZE];
  uint32_t foreign = 0;
  int code = ask(descriptor, GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, name, sizeof name);
  if (code == 0) code = (int)ls_socket_receive(descriptor, answer, sizeof answer, &foreign, NULL);
  const int family = code < 0 ? code : ls_wireless_parse_family(answer, (size_t)code);
  code = family < 0 ? family
                    : ask(descriptor, (uint16_t)family, NLM_F_DUMP, WG_CMD_GET_DEVICE, WGDEVICE_A_IFINDEX, &ifindex,
                          sizeof ifindex);
  if (code == 0) code = read_peers(descriptor, (uint16_t)family, answer, ret_endpoints, capacity);
  explicit_bzero(answer, sizeof answer);
  close(descriptor);
  return code;
}
