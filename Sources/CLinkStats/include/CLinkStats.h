// Links, counters and link events of the Linux kernel as plain structs, over libnl and getifaddrs.
//
// Every function returns 0 or a positive answer, or a negative errno. Outputs named ret_ are written on success only.
// Lists belong to the caller: start with a zeroed struct, pass it again to reuse its memory, free it at the end; after a
// failure a list is empty. Nothing here is thread-safe: one thread uses one handle.
#ifndef CLINKSTATS_H
#define CLINKSTATS_H

#include <stddef.h>
#include <stdint.h>

#include "ls_clock.h"
#include "ls_memory.h"
#include "ls_named.h"
#include "ls_routes.h"
#include "ls_wireguard.h"
#include "ls_wireless.h"

enum {
  LS_NAME_MAX = 15,      // IFNAMSIZ without its NUL
  LS_KIND_MAX = 31,      // longer kinds are cut
  LS_ALIAS_MAX = 255,    // IFALIASZ without its NUL
  LS_ALTNAME_MAX = 127,  // ALTIFNAMSIZ without its NUL
  LS_ALTNAMES_MAX = 8,   // further ones are left out
  LS_HARDWARE_MAX = 32,  // MAX_ADDR_LEN
};

// What ls_parse_message found; 0 is a message that is of no concern here.
enum {
  LS_IGNORED = 0,
  LS_LINK = 1,       // RTM_NEWLINK
  LS_LINK_GONE = 2,  // RTM_DELLINK
  LS_STATS = 3,      // RTM_NEWSTATS
  LS_NAMESPACE = 4,       // RTM_NEWNSID: a namespace was given an id
  LS_NAMESPACE_GONE = 5,  // RTM_DELNSID: it ends
};

// Other network namespaces are known by the ids that this one gave them, from 0.
enum {
  LS_HERE = -1,  // the namespace of the socket
};

// Cumulative, as the kernel shows them.
struct ls_counters {
  uint64_t rx_packets;
  uint64_t tx_packets;
  uint64_t rx_bytes;
  uint64_t tx_bytes;
};

struct ls_stat {
  uint32_t ifindex;
  uint32_t width;  // bits of the source's counters, 32 or 64
  struct ls_counters counters;
};

struct ls_altname {
  uint8_t length;
  uint8_t bytes[LS_ALTNAME_MAX];
};

// One RTM_NEWLINK or RTM_DELLINK. Bytes are untrusted and end without NUL; what a message lacks is 0.
struct ls_link {
  uint32_t ifindex;
  uint32_t flags;         // IFF_*
  uint32_t change;        // ifi_change; 0xffffffff: the link is new here
  uint16_t hardware_type; // ARPHRD_*
  uint8_t operstate;      // IF_OPER_*
  uint8_t tun_type;       // IFLA_TUN_TYPE of a tun link: 1 tun, 2 tap
  uint32_t mtu;
  uint32_t lower;         // IFLA_LINK: the link below, or a veth's peer
  uint32_t master;        // IFLA_MASTER
  uint8_t lower_is_elsewhere; // IFLA_LINK_NETNSID was present: `lower` counts in another namespace
  int32_t lower_namespace;    // that namespace's id; negative: it has none. Only with lower_is_elsewhere
  uint8_t moved_out;      // IFLA_NEW_NETNSID was present: it left for another namespace and lives on
  uint8_t counter_width;  // 64 (IFLA_STATS64), 32 (IFLA_STATS), or 0: the message had no counters
  uint8_t name_length;
  uint8_t kind_length;
  uint8_t port_kind_length;
  uint8_t alias_length;
  uint8_t address_length;
  uint8_t permanent_address_length;
  uint8_t altname_count;
  uint8_t name[LS_NAME_MAX];
  uint8_t kind[LS_KIND_MAX];       // IFLA_INFO_KIND
  uint8_t port_kind[LS_KIND_MAX];  // IFLA_INFO_SLAVE_KIND
  uint8_t alias[LS_ALIAS_MAX];
  uint8_t address[LS_HARDWARE_MAX];
  uint8_t permanent_address[LS_HARDWARE_MAX];
  struct ls_altname altnames[LS_ALTNAMES_MAX];
  struct ls_endpoint endpoint;  // from IFLA_INFO_DATA of a tunnel
  struct ls_counters counters;
};

// Parses the one netlink message that `bytes` starts with; nothing after its nlmsg_len is looked at. `bytes` is 4-byte
// aligned, as netlink's messages are. Returns LS_LINK or LS_LINK_GONE with *ret_link written, LS_STATS with *ret_stat
// written, LS_NAMESPACE or LS_NAMESPACE_GONE with *ret_namespace written (not negative), LS_IGNORED (another type; a link
// message that is not AF_UNSPEC, so a bridge's report on its port; a report of the wireless extensions, which has no
// facts; counters of another sort), -EBADMSG (a length that does not fit), or -EINVAL (not aligned).
int ls_parse_message(const void *bytes, size_t length, struct ls_link *ret_link, struct ls_stat *ret_stat,
                     int32_t *ret_namespace);

struct ls_stats {
  struct ls_stat *items;
  size_t count;
  size_t capacity;
};
void ls_stats_free(struct ls_stats *stats);

struct ls_links {
  struct ls_link *items;
  size_t count;
  size_t capacity;
};
void ls_links_free(struct ls_links *links);

// What a dump went through besides its result.
struct ls_dump_report {
  uint32_t retries;      // dumps thrown away because the kernel's list changed under them (NLM_F_DUMP_INTR)
  uint32_t interrupted;  // 1: the last try was interrupted too, and its result is given as it is
  uint32_t foreign;      // messages dropped because the kernel was not their sender
};

// A socket to ask with. It is kept open; after a failure that leaves a dump unfinished it is replaced by the next call.
struct ls_requests;
int ls_requests_open(struct ls_requests **ret_requests);
void ls_requests_close(struct ls_requests *requests);

// Reads counters by RTM_GETLINK from now on, as on a kernel without RTM_GETSTATS (before 4.7).
void ls_requests_without_getstats(struct ls_requests *requests);
// 1 when counters are read by RTM_GETLINK, because the kernel lacks RTM_GETSTATS or by the call above.
int ls_requests_lack_getstats(const struct ls_requests *requests);

// Every link of the namespace.
int ls_list_links(struct ls_requests *requests, struct ls_links *links, struct ls_dump_report *ret_report);
// The counters of every link of the namespace.
int ls_dump_counters(struct ls_requests *requests, struct ls_stats *stats, struct ls_dump_report *ret_report);

// A socket that hears of every change of a link (RTNLGRP_LINK) and of namespaces that end (RTNLGRP_NSID), non-blocking;
// where the process may, also of the changes in those namespaces to which this one gave an id
// (NETLINK_LISTEN_ALL_NSID, CAP_NET_BROADCAST).
struct ls_events;
// Asks for a receive buffer of this many bytes, past the limit of rmem_max where the process may.
int ls_events_open(uint32_t receive_buffer, struct ls_events **ret_events);
// 1: the descriptor is a route netlink socket.
int ls_events_is_queue(int descriptor);
// Takes over a route netlink socket that somebody else opened and bound (systemd, ListenNetlink=), with what it has
// queued. The descriptor belongs to the handle on success only. -EPROTOTYPE: it is something else; -EXDEV: it hears of
// another network namespace than this thread's.
int ls_events_adopt(int descriptor, struct ls_events **ret_events);
// Empties and closes such a socket, and has it hear nothing more while somebody else holds it: its queue would fill up.
void ls_events_refuse(int descriptor);
void ls_events_close(struct ls_events *events);
int ls_events_descriptor(const struct ls_events *events);
// Bytes that the kernel really set aside, as SO_RCVBUF tells: twice what was asked for when all was granted.
uint32_t ls_events_receive_buffer(const struct ls_events *events);
// 1 when other namespaces' events are heard.
int ls_events_hear_others(const struct ls_events *events);

struct ls_drain_report {
  uint32_t events;     // given to the callback
  uint32_t foreign;    // messages dropped because the kernel was not their sender
  uint32_t malformed;  // messages that did not parse
  uint32_t overrun;    // 1: the kernel dropped events, or one did not fit; list all links again
};

// `what` is LS_LINK or LS_LINK_GONE of this namespace (`where` is LS_HERE), LS_LINK_GONE of a veth end in the namespace
// `where`, or LS_NAMESPACE_GONE: the namespace `where` ends, and `link` is NULL. The link is valid during the call.
typedef void ls_event_handler(void *context, int what, int32_t where, const struct ls_link *link);
// Reads events until the queue is empty, also past an overrun, whose report comes before the stale rest of the queue.
int ls_events_drain(struct ls_events *events, ls_event_handler *handler, void *context,
                    struct ls_drain_report *ret_report);

// One address of one interface.
struct ls_address {
  uint8_t family;  // AF_INET or AF_INET6
  uint8_t prefix_length;
  uint8_t name_length;
  uint8_t length;  // of `bytes`: 4 or 16
  uint8_t name[LS_NAME_MAX];
  uint8_t bytes[16];
};

struct ls_addresses {
  struct ls_address *items;
  size_t count;
  size_t capacity;
};
void ls_addresses_free(struct ls_addresses *addresses);

// Addresses of every interface, by getifaddrs; at most `limit`, the rest is left out.
int ls_list_addresses(struct ls_addresses *addresses, size_t limit);
// Counters of every interface by getifaddrs: the kernel's 32-bit ones, which start over at 2^32.
int ls_dump_counters32(struct ls_stats *stats);

#endif
