// The mode of radio links (station, access point, ...) and their network, which only nl80211 tells: generic netlink, no privilege needed.
#ifndef LS_WIRELESS_H
#define LS_WIRELESS_H

#include <stddef.h>
#include <stdint.h>

enum { LS_SSID_MAX = 32 };

struct ls_wireless {
  // NL80211_IFTYPE_*.
  uint32_t mode;
  // The network that it is in or makes; length 0 when the kernel tells none.
  uint8_t ssid[LS_SSID_MAX];
  uint8_t ssid_length;
};

// 0, or a negative errno: -ENOENT without cfg80211, -ENODEV when it is no radio link.
// Ask for links with a radio only: the kernel may load cfg80211 to answer.
int ls_wireless_ask(uint32_t ifindex, struct ls_wireless *ret);

// The answer to that request, from plain bytes (4-byte aligned): a message of nl80211's `family` about `ifindex`, or the
// kernel's error. -EBADMSG when it is neither.
int ls_wireless_parse(const void *bytes, size_t length, uint16_t family, uint32_t ifindex, struct ls_wireless *ret);
// The id of the generic netlink family that the kernel's answer names, or a negative errno.
int ls_wireless_parse_family(const void *bytes, size_t length);

#endif
