// Links by their name, over any socket and without netlink: the ioctls of netdevice(7) and ethtool. No privilege needed.
#ifndef LS_NAMED_H
#define LS_NAMED_H

#include <stddef.h>
#include <stdint.h>

enum {
  LS_NAMED_ADDRESS_MAX = 32,
  LS_NAMED_DRIVER_MAX = 31,
};

// What a link says of itself; what it does not say is 0. Bytes are untrusted and end without NUL.
struct ls_named {
  uint32_t flags;          // the lower 16 of IFF_*
  uint32_t mtu;
  uint16_t hardware_type;  // ARPHRD_*
  uint8_t address_length;
  uint8_t permanent_address_length;
  uint8_t driver_length;
  uint8_t address[LS_NAMED_ADDRESS_MAX];
  uint8_t permanent_address[LS_NAMED_ADDRESS_MAX];
  uint8_t driver[LS_NAMED_DRIVER_MAX];  // of software links the kind, in the kernel's or the driver's words
};

// A descriptor to ask with, of the calling thread's network namespace, or a negative errno.
int ls_named_open(void);
// The index of the link with this name, positive, or a negative errno: -ENODEV when there is none.
int ls_named_index(int descriptor, const uint8_t *name, size_t length);
// 1 when a link has this index, 0 when none has, or a negative errno.
int ls_named_exists(int descriptor, uint32_t ifindex);
// Asks for everything else.
void ls_named_describe(int descriptor, const uint8_t *name, size_t length, struct ls_named *ret_named);

#endif
