// Route netlink sockets, and receiving from the kernel alone.
#ifndef CLINKSTATS_SOCKET_H
#define CLINKSTATS_SOCKET_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// A dump chunk is at most 32 KiB; a link with many virtual functions can be larger than that.
enum { LS_RECEIVE_SIZE = 64 * 1024 };

// A route netlink socket whose port id the kernel chose. `type_flags` are SOCK_NONBLOCK and the like. Returns the
// descriptor.
int ls_socket_open(int type_flags);
// Reads one datagram of the kernel's, counting and dropping those of other senders. Returns its length, -EMSGSIZE when it
// did not fit, or what recvmsg failed with. *ret_where, unless NULL, is the id of the namespace that it tells of where the
// kernel names one (NETLINK_LISTEN_ALL_NSID), else LS_HERE.
ssize_t ls_socket_receive(int descriptor, void *buffer, size_t capacity, uint32_t *foreign, int32_t *ret_where);

// The id that the calling thread's network namespace has given to itself, which `ip netns set` can do; LS_HERE when none.
int ls_own_namespace(int32_t *ret_id);

#endif
