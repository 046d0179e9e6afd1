// The far ends of a WireGuard link, which only its own generic netlink family tells, to those with CAP_NET_ADMIN.
#ifndef LS_WIREGUARD_H
#define LS_WIREGUARD_H

#include <stddef.h>
#include <stdint.h>

#include "ls_routes.h"

// Far ends of the peers, with the link's mark; at most `capacity`. Their number, or a negative errno: -EPERM without
// CAP_NET_ADMIN in the namespace, -ENOENT without WireGuard.
int ls_wireguard_ask(uint32_t ifindex, struct ls_endpoint *ret_endpoints, size_t capacity);

// One message of that answer, from plain bytes (4-byte aligned), of WireGuard's `family`: adds far ends behind the first
// `count`. *mark is written where the message tells it. Their number now, the kernel's error, or -EBADMSG.
int ls_wireguard_parse(const void *bytes, size_t length, uint16_t family, struct ls_endpoint *endpoints, size_t count,
                       size_t capacity, uint32_t *mark);

#endif
