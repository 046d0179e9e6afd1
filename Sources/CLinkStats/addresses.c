// What getifaddrs tells: the addresses of every interface, and the kernel's 32-bit counters.
#define _GNU_SOURCE
#include <errno.h>
#include <ifaddrs.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "CLinkStats.h"
#include "lists.h"

// Leading one bits.
static uint8_t prefix_length(const uint8_t *mask, size_t length) {
  uint8_t bits = 0;
  for (size_t i = 0; i < length; i++) {
    for (uint8_t bit = 0x80; bit != 0; bit >>= 1) {
      if ((mask[i] & bit) == 0) return bits;
      bits += 1;
    }
  }
  return bits;
}

// The bytes of an IPv4 or IPv6 address within a sockaddr.
static const uint8_t *bytes_of(const struct sockaddr *address, uint8_t *ret_length) {
  if (address->sa_family == AF_INET) {
    *ret_length = sizeof(struct in_addr);
    return (const uint8_t *)&((const struct sockaddr_in *)address)->sin_addr;
  }
  if (address->sa_family == AF_INET6) {
    *ret_length = sizeof(struct in6_addr);
    return (const uint8_t *)&((const struct sockaddr_in6 *)address)->sin6_addr;
  }
  return NULL;
}

static int take_address(struct ls_addresses *addresses, const struct ifaddrs *entry) {
  uint8_t length = 0;
  const uint8_t *bytes = bytes_of(entry->ifa_addr, &length);
  if (bytes == NULL) return 0;
  const int error =
      ls_make_room(&addresses->items, addresses->count, &addresses->capacity, sizeof *addresses->items);
  if (error < 0) return error;
  struct ls_address address = {.family = (uint8_t)entry->ifa_addr->sa_family, .length = length};
  memcpy(address.bytes, bytes, length);
  // For IPv4 this is the address's label, by custom the interface's name or NAME:WORD; a name holds no colon.
  const size_t name_length = strcspn(entry->ifa_name, ":");
  address.name_length = (uint8_t)(name_length < LS_NAME_MAX ? name_length : LS_NAME_MAX);
  memcpy(address.name, entry->ifa_name, address.name_length);
  uint8_t mask_length = 0;
  const uint8_t *mask = entry->ifa_netmask ? bytes_of(entry->ifa_netmask, &mask_length) : NULL;
  address.prefix_length = mask ? prefix_length(mask, mask_length) : (uint8_t)(length * 8);
  addresses->items[addresses->count++] = address;
  return 0;
}

int ls_list_addresses(struct ls_addresses *addresses, size_t limit) {
  addresses->count = 0;
  struct ifaddrs *all = NULL;
  if (getifaddrs(&all) < 0) return errno ? -errno : -EIO;
  int error = 0;
  for (const struct ifaddrs *entry = all; entry && error == 0 && addresses->count < limit; entry = entry->ifa_next) {
    if (entry->ifa_addr && entry->ifa_name) error = take_address(addresses, entry);
  }
  freeifaddrs(all);
  if (error < 0) addresses->count = 0;
  return error;
}

// 0 when the entry is none of a link. One without a hardware address (tun, WireGuard, ppp) is told by its name alone.
static unsigned int link_of(const struct ifaddrs *entry) {
  if (entry->ifa_data == NULL) return 0;
  if (entry->ifa_addr == NULL) return entry->ifa_name ? if_nametoindex(entry->ifa_name) : 0;
  if (entry->ifa_addr->sa_family != AF_PACKET) return 0;
  const int ifindex = ((const struct sockaddr_ll *)entry->ifa_addr)->sll_ifindex;
  return ifindex > 0 ? (unsigned int)ifindex : 0;
}

static int take_counters32(struct ls_stats *stats, const struct ifaddrs *entry) {
  const unsigned int ifindex = link_of(entry);
  if (ifindex == 0) return 0;
  const int error = ls_make_room(&stats->items, stats->count, &stats->capacity, sizeof *stats->items);
  if (error < 0) return error;
  struct rtnl_link_stats counters;
  memcpy(&counters, entry->ifa_data, sizeof counters);
  stats->items[stats->count++] = (struct ls_stat){
      .ifindex = ifindex,
      .width = 32,
      .counters = {.rx_packets = counters.rx_packets,
                   .tx_packets = counters.tx_packets,
                   .rx_bytes = counters.rx_bytes,
                   .tx_bytes = counters.tx_bytes},
  };
  return 0;
}

int ls_dump_counters32(struct ls_stats *stats) {
  stats->count = 0;
  struct ifaddrs *all = NULL;
  if (getifaddrs(&all) < 0) return errno ? -errno : -EIO;
  int error = 0;
  for (const struct ifaddrs *entry = all; entry && error == 0; entry = entry->ifa_next) {
    error = take_counters32(stats, entry);
  }
  freeifaddrs(all);
  if (error < 0) stats->count = 0;
  return error;
}
