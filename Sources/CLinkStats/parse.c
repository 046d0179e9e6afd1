// One netlink message from plain bytes into plain structs: every length is checked, nothing outside it is touched.
//
// libnl's own link object (libnl-route) leaves out what an event must tell (IFLA_NEW_NETNSID) and what identity and
// classification need (IFLA_PERM_ADDRESS, IFLA_PROP_LIST, IFLA_TUN_TYPE), so links are read from their attributes.
#include "parse.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "endpoint.h"

// Absent on older kernel headers; the numbers are the kernel's ABI.
enum { ATTR_NEW_NETNSID = 45, ATTR_PROP_LIST = 52, ATTR_ALT_IFNAME = 53, ATTR_PERM_ADDRESS = 54, ATTR_TUN_TYPE = 3 };

// Attributes in a row: those after a message's fixed header, or those in a nest.
struct span {
  const struct nlattr *first;
  int length;
};

static int attributes_after(const struct nlmsghdr *header, size_t fixed, struct span *ret) {
  if (header->nlmsg_len < NLMSG_HDRLEN + fixed || header->nlmsg_len > INT32_MAX) return -EBADMSG;
  // nlmsg_attrdata aligns past the fixed header, which may lie behind the end of a message that has nothing else.
  const int length = (int)header->nlmsg_len - (int)NLMSG_HDRLEN - (int)NLMSG_ALIGN(fixed);
  *ret = (struct span){nlmsg_attrdata(header, (int)fixed), length > 0 ? length : 0};
  return 0;
}

static struct span attributes_in(const struct nlattr *nest) {
  return (struct span){nla_data(nest), nla_len(nest)};
}

// The loop over a span; afterwards `left` is more than 0 only when an attribute did not fit.
#define for_each_attribute(at, span, left) \
  for (at = (span).first, left = (span).length; nla_ok(at, left); at = nla_next(at, &left))

static void copy_bytes(const struct nlattr *from, uint8_t *to, size_t capacity, uint8_t *length) {
  size_t n = (size_t)nla_len(from);
  if (n > capacity) n = capacity;
  memcpy(to, nla_data(from), n);
  *length = (uint8_t)n;
}

static void copy_text(const struct nlattr *from, uint8_t *to, size_t capacity, uint8_t *length) {
  copy_bytes(from, to, capacity, length);
  *length = (uint8_t)strnlen((const char *)to, *length);
}

static uint32_t u32_of(const struct nlattr *from) {
  uint32_t value = 0;
  if (nla_len(from) >= (int)sizeof value) memcpy(&value, nla_data(from), sizeof value);
  return value;
}

static int32_t s32_of(const struct nlattr *from, int32_t absent) {
  int32_t value = absent;
  if (nla_len(from) >= (int)sizeof value) memcpy(&value, nla_data(from), sizeof value);
  return value;
}

static uint8_t u8_of(const struct nlattr *from) {
  return nla_len(from) >= 1 ? *(const uint8_t *)nla_data(from) : 0;
}

// Other kernels send a shorter or longer struct; the four fields at its front have always been there, and without all
// of them there are no counters: a missing one must not read as 0.
static int counters64(const struct nlattr *from, struct ls_counters *ret) {
  _Static_assert(offsetof(struct rtnl_link_stats64, tx_bytes) == offsetof(struct ls_counters, tx_bytes), "layout");
  if (nla_len(from) < (int)sizeof *ret) return 0;
  memcpy(ret, nla_data(from), sizeof *ret);
  return 64;
}

static int counters32(const struct nlattr *from, struct ls_counters *ret) {
  uint32_t front[4];
  if (nla_len(from) < (int)sizeof front) return 0;
  memcpy(front, nla_data(from), sizeof front);
  *ret = (struct ls_counters){
      .rx_packets = front[0], .tx_packets = front[1], .rx_bytes = front[2], .tx_bytes = front[3]};
  return 32;
}

static int parse_info_data(const struct nlattr *nest, struct ls_link *link) {
  const struct span span = attributes_in(nest);
  const struct nlattr *at;
  int left;
  for_each_attribute(at, span, left) {
    if (nla_type(at) == ATTR_TUN_TYPE) link->tun_type = u8_of(at);
  }
  return left > 0 ? -EBADMSG : 0;
}

static int parse_info(const struct nlattr *nest, struct ls_link *link) {
  const struct span span = attributes_in(nest);
  const struct nlattr *at, *data = NULL;
  int left;
  for_each_attribute(at, span, left) {
    switch (nla_type(at)) {
      case IFLA_INFO_KIND: copy_text(at, link->kind, sizeof link->kind, &link->kind_length); break;
      case IFLA_INFO_SLAVE_KIND: copy_text(at, link->port_kind, sizeof link->port_kind, &link->port_kind_length); break;
      case IFLA_INFO_DATA: data = at; break;
    }
  }
  if (left > 0) return -EBADMSG;
  // What the numbers in IFLA_INFO_DATA mean depends on the kind.
  const int is_tun = link->kind_length == 3 && memcmp(link->kind, "tun", 3) == 0;
  if (is_tun && data) return parse_info_data(data, link);
  if (data) link->endpoint = ls_parse_endpoint(link->kind, link->kind_length, data);
  return 0;
}

static int parse_properties(const struct nlattr *nest, struct ls_link *link) {
  const struct span span = attributes_in(nest);
  const struct nlattr *at;
  int left;
  for_each_attribute(at, span, left) {
    if (nla_type(at) != ATTR_ALT_IFNAME || link->altname_count == LS_ALTNAMES_MAX) continue;
    struct ls_altname *name = &link->altnames[link->altname_count++];
    copy_text(at, name->bytes, sizeof name->bytes, &name->length);
  }
  return left > 0 ? -EBADMSG : 0;
}

static int parse_attribute(const struct nlattr *at, struct ls_link *link) {
  switch (nla_type(at)) {
    case IFLA_IFNAME: copy_text(at, link->name, sizeof link->name, &link->name_length); return 0;
    case IFLA_IFALIAS: copy_text(at, link->alias, sizeof link->alias, &link->alias_length); return 0;
    case IFLA_ADDRESS: copy_bytes(at, link->address, sizeof link->address, &link->address_length); return 0;
    case ATTR_PERM_ADDRESS:
      copy_bytes(at, link->permanent_address, sizeof link->permanent_address, &link->permanent_address_length);
      return 0;
    case IFLA_MTU: link->mtu = u32_of(at); return 0;
    case IFLA_OPERSTATE: link->operstate = u8_of(at); return 0;
    case IFLA_LINK: link->lower = u32_of(at); return 0;
    case IFLA_LINK_NETNSID:
      link->lower_is_elsewhere = 1;
      link->lower_namespace = s32_of(at, NETNSA_NSID_NOT_ASSIGNED);
      return 0;
    case IFLA_MASTER: link->master = u32_of(at); return 0;
    case ATTR_NEW_NETNSID: link->moved_out = 1; return 0;
    case IFLA_LINKINFO: return parse_info(at, link);
    case ATTR_PROP_LIST: return parse_properties(at, link);
    case IFLA_STATS64: link->counter_width = (uint8_t)counters64(at, &link->counters); return 0;
  }
  return 0;
}

int ls_parse_link(const struct nlmsghdr *header, struct ls_link *ret_link) {
  struct span span;
  if (attributes_after(header, sizeof(struct ifinfomsg), &span) < 0) return -EBADMSG;
  const struct ifinfomsg *info = nlmsg_data(header);
  if (info->ifi_family != AF_UNSPEC) return LS_IGNORED;
  if (info->ifi_index <= 0) return -EBADMSG;

  struct ls_link link = {
      .ifindex = (uint32_t)info->ifi_index,
      .flags = info->ifi_flags,
      .change = info->ifi_change,
      .hardware_type = info->ifi_type,
  };
  const struct nlattr *at, *narrow = NULL;
  int left;
  for_each_attribute(at, span, left) {
    // A report of the old wireless extensions: a name and nothing else of the link, which would read as a change.
    if (nla_type(at) == IFLA_WIRELESS) return LS_IGNORED;
    if (nla_type(at) == IFLA_STATS) narrow = at;
    if (parse_attribute(at, &link) < 0) return -EBADMSG;
  }
  if (left > 0) return -EBADMSG;
  if (link.counter_width == 0 && narrow) link.counter_width = (uint8_t)counters32(narrow, &link.counters);
  *ret_link = link;
  return header->nlmsg_type == RTM_DELLINK ? LS_LINK_GONE : LS_LINK;
}

int ls_parse_stats(const struct nlmsghdr *header, struct ls_stat *ret_stat) {
  struct span span;
  if (attributes_after(header, sizeof(struct if_stats_msg), &span) < 0) return -EBADMSG;
  const struct if_stats_msg *info = nlmsg_data(header);
  const struct nlattr *at;
  int left;
  for_each_attribute(at, span, left) {
    if (nla_type(at) != IFLA_STATS_LINK_64) continue;
    struct ls_counters counters;
    if (counters64(at, &counters) == 0) return LS_IGNORED;
    *ret_stat = (struct ls_stat){.ifindex = info->ifindex, .width = 64, .counters = counters};
    return LS_STATS;
  }
  return left > 0 ? -EBADMSG : LS_IGNORED;
}

int ls_parse_link_counters(const struct nlmsghdr *header, struct ls_stat *ret_stat) {
  struct span span;
  if (attributes_after(header, sizeof(struct ifinfomsg), &span) < 0) return -EBADMSG;
  const struct ifinfomsg *info = nlmsg_data(header);
  if (info->ifi_family != AF_UNSPEC) return LS_IGNORED;
  if (info->ifi_index <= 0) return -EBADMSG;

  struct ls_stat stat = {.ifindex = (uint32_t)info->ifi_index};
  const struct nlattr *at;
  int left;
  for_each_attribute(at, span, left) {
    if (nla_type(at) == IFLA_STATS64) stat.width = (uint32_t)counters64(at, &stat.counters);
    if (nla_type(at) == IFLA_STATS && stat.width == 0) stat.width = (uint32_t)counters32(at, &stat.counters);
  }
  if (left > 0) return -EBADMSG;
  if (stat.width == 0) return LS_IGNORED;
  *ret_stat = stat;
  return LS_STATS;
}

int ls_parse_namespace(const struct nlmsghdr *header, int32_t *ret_namespace) {
  struct span span;
  if (attributes_after(header, sizeof(struct rtgenmsg), &span) < 0) return -EBADMSG;
  const struct nlattr *at;
  int32_t id = NETNSA_NSID_NOT_ASSIGNED;
  int left;
  for_each_attribute(at, span, left) {
    if (nla_type(at) == NETNSA_NSID) id = s32_of(at, NETNSA_NSID_NOT_ASSIGNED);
  }
  if (left > 0) return -EBADMSG;
  if (id < 0) return LS_IGNORED;
  *ret_namespace = id;
  return header->nlmsg_type == RTM_DELNSID ? LS_NAMESPACE_GONE : LS_NAMESPACE;
}

int ls_parse_message(const void *bytes, size_t length, struct ls_link *ret_link, struct ls_stat *ret_stat,
                     int32_t *ret_namespace) {
  if ((uintptr_t)bytes % NLMSG_ALIGNTO != 0) return -EINVAL;
  const struct nlmsghdr *header = bytes;
  if (length < sizeof *header || header->nlmsg_len < sizeof *header || header->nlmsg_len > length) return -EBADMSG;
  switch (header->nlmsg_type) {
    case RTM_NEWLINK:
    case RTM_DELLINK: return ls_parse_link(header, ret_link);
    case RTM_NEWSTATS: return ls_parse_stats(header, ret_stat);
    case RTM_NEWNSID:
    case RTM_DELNSID: return ls_parse_namespace(header, ret_namespace);
  }
  return LS_IGNORED;
}
