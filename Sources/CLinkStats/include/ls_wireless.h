// The mode of radio links (station, access point, ...), which only nl80211 tells: generic netlink, no privilege needed.
#ifndef LS_WIRELESS_H
#define LS_WIRELESS_H

#include <stddef.h>
#include <stdint.h>

// NL80211_IFTYPE_* of the link, or a negative errno: -ENOENT without cfg80211, -ENODEV when it is no radio link.
// Ask for links with a radio only: the kernel may load cfg80211 to answer.
int ls_wireless_mode(uint32_t ifindex);

// The answer to that request, from plain bytes (4-byte aligned): a message of nl80211's `family` about `ifindex`, or the
// kernel's error. -EBADMSG when it is neither.
int ls_wireless_parse(const void *bytes, size_t length, uint16_t family, uint32_t ifindex);
// The id of the generic netlink family that the kernel's answer names, or a negative errno.
int ls_wireless_parse_family(const void *bytes, size_t length);

#endif
