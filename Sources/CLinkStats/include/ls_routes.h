// Where packets leave this network namespace: route lookups and default routes, over route netlink without privilege.
#ifndef LS_ROUTES_H
#define LS_ROUTES_H

#include <stddef.h>
#include <stdint.h>

// The far end of a tunnel; lengths are 4, 16, or 0 for none.
struct ls_endpoint {
  uint8_t remote_length;
  uint8_t local_length;
  uint8_t remote[16];
  uint8_t local[16];
  uint32_t mark;   // firewall mark of the outer packets, 0: none
  uint32_t lower;  // the link that the tunnel is bound to, 0: none
};

// The link over which a packet to the endpoint's remote would leave, by its mark and, if it has one, its source. Nothing
// is sent. Returns 0, or a negative errno: -ENETUNREACH and the like without a route, -EINVAL without a remote.
int ls_route_lookup(const struct ls_endpoint *endpoint, uint32_t *ret_ifindex);
// The answer to that question, from plain bytes (4-byte aligned). -EBADMSG when it is neither a route with a link nor
// the kernel's error.
int ls_route_parse(const void *bytes, size_t length, uint32_t *ret_ifindex);

// Links over which default routes of the main tables (IPv4 and IPv6) leave, each once, at most `capacity`. A table is
// read up to a bound: default routes come first in the kernel's order. Returns their number, or a negative errno.
int ls_default_routes(uint32_t *ret_ifindexes, size_t capacity);
// Adds those that one message of the table tells; returns their number now, or -EBADMSG.
int ls_default_routes_parse(const void *bytes, size_t length, uint32_t *ifindexes, size_t count, size_t capacity);

#endif
