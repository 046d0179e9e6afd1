// One question to nl80211, answered by the time that it was sent: generic netlink runs in the sender's context.
#include "ls_wireless.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/nl80211.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "socket.h"

// The description of nl80211 lists its hundred commands and takes about 4 KiB.
enum { ANSWER_SIZE = 32 * 1024, PAYLOAD_SIZE = 16 };

struct request {
  struct nlmsghdr header;
  struct genlmsghdr generic;
  struct nlattr attribute;
  uint8_t payload[PAYLOAD_SIZE];
};

// Attributes of the message that `bytes` starts with, after its generic header; or a negative errno.
static int attributes(const void *bytes, size_t length, uint16_t family, const struct nlattr **ret_first) {
  const struct nlmsghdr *header = bytes;
  if ((uintptr_t)bytes % NLMSG_ALIGNTO != 0) return -EINVAL;
  if (length < sizeof *header || header->nlmsg_len < sizeof *header || header->nlmsg_len > length) return -EBADMSG;
  const size_t payload = header->nlmsg_len - sizeof *header;
  if (header->nlmsg_type == NLMSG_ERROR) {
    const struct nlmsgerr *error = nlmsg_data(header);
    // A code of 0 would be an acknowledgement, which nobody asked for.
    return payload >= sizeof error->error && error->error < 0 && error->error > -4096 ? error->error : -EBADMSG;
  }
  if (header->nlmsg_type != family || payload < GENL_HDRLEN) return -EBADMSG;
  *ret_first = (const struct nlattr *)((const uint8_t *)nlmsg_data(header) + GENL_HDRLEN);
  return (int)(payload - GENL_HDRLEN);
}

int ls_wireless_parse(const void *bytes, size_t length, uint16_t family, uint32_t ifindex, struct ls_wireless *ret) {
  const struct nlattr *first = NULL;
  const int size = attributes(bytes, length, family, &first);
  if (size < 0) return size;
  const struct nlattr *index = nla_find(first, size, NL80211_ATTR_IFINDEX);
  const struct nlattr *mode = nla_find(first, size, NL80211_ATTR_IFTYPE);
  if (!index || nla_len(index) < 4 || nla_get_u32(index) != ifindex) return -EBADMSG;
  if (!mode || nla_len(mode) < 4 || nla_get_u32(mode) > 255) return -EBADMSG;
  const struct nlattr *ssid = nla_find(first, size, NL80211_ATTR_SSID);
  struct ls_wireless found = {.mode = nla_get_u32(mode)};
  if (ssid && nla_len(ssid) > 0 && nla_len(ssid) <= LS_SSID_MAX) {
    found.ssid_length = (uint8_t)nla_len(ssid);
    memcpy(found.ssid, nla_data(ssid), found.ssid_length);
  }
  *ret = found;
  return 0;
}

int ls_wireless_parse_family(const void *bytes, size_t length) {
  const struct nlattr *first = NULL;
  const int size = attributes(bytes, length, GENL_ID_CTRL, &first);
  if (size < 0) return size;
  const struct nlattr *id = nla_find(first, size, CTRL_ATTR_FAMILY_ID);
  return id && nla_len(id) >= 2 ? nla_get_u16(id) : -EBADMSG;
}

// Sends one command with one attribute and reads the answer. Returns its length.
static ssize_t ask(int descriptor, uint16_t family, uint8_t command, uint16_t type, const void *value, uint16_t size,
                   void *answer, size_t capacity) {
  struct request request = {
      .header = {.nlmsg_type = family, .nlmsg_flags = NLM_F_REQUEST},
      .generic = {.cmd = command, .version = 1},
      .attribute = {.nla_len = NLA_HDRLEN + size, .nla_type = type},
  };
  request.header.nlmsg_len = offsetof(struct request, payload) + NLA_ALIGN(size);
  memcpy(request.payload, value, size);
  if (send(descriptor, &request, request.header.nlmsg_len, 0) < 0) return -errno;
  uint32_t foreign = 0;
  return ls_socket_receive(descriptor, answer, capacity, &foreign, NULL);
}

static int ask_about(int descriptor, uint32_t ifindex, struct ls_wireless *ret) {
  _Alignas(struct nlmsghdr) uint8_t answer[ANSWER_SIZE];
  static const char name[] = NL80211_GENL_NAME;
  _Static_assert(sizeof name <= PAYLOAD_SIZE, "the family's name fits");
  ssize_t length = ask(descriptor, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, name, sizeof name, answer,
                       sizeof answer);
  if (length < 0) return (int)length;
  const int family = ls_wireless_parse_family(answer, (size_t)length);
  if (family < 0) return family;
  length = ask(descriptor, (uint16_t)family, NL80211_CMD_GET_INTERFACE, NL80211_ATTR_IFINDEX, &ifindex, sizeof ifindex,
               answer, sizeof answer);
  if (length < 0) return (int)length;
  return ls_wireless_parse(answer, (size_t)length, (uint16_t)family, ifindex, ret);
}

int ls_wireless_ask(uint32_t ifindex, struct ls_wireless *ret) {
  const int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_GENERIC);
  if (descriptor < 0) return -errno;
  const int code = ask_about(descriptor, ifindex, ret);
  close(descriptor);
  return code;
}
