// Opening route netlink sockets, and receiving from the kernel alone.
#define _GNU_SOURCE
#include "socket.h"

#include <errno.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

int ls_socket_open(int type_flags) {
  const int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | type_flags, NETLINK_ROUTE);
  if (descriptor < 0) return -errno;
  // A port id of 0 lets the kernel choose: one made from the process id clashes with other sockets of the process.
  const struct sockaddr_nl any = {.nl_family = AF_NETLINK};
  if (bind(descriptor, (const struct sockaddr *)&any, sizeof any) < 0) {
    const int error = -errno;
    close(descriptor);
    return error;
  }
  return descriptor;
}

ssize_t ls_socket_receive(int descriptor, void *buffer, size_t capacity, uint32_t *foreign) {
  for (;;) {
    struct sockaddr_nl sender = {0};
    struct iovec part = {.iov_base = buffer, .iov_len = capacity};
    struct msghdr message = {.msg_name = &sender, .msg_namelen = sizeof sender, .msg_iov = &part, .msg_iovlen = 1};
    const ssize_t length = recvmsg(descriptor, &message, 0);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return -errno;
    if (message.msg_namelen != sizeof sender || sender.nl_family != AF_NETLINK || sender.nl_pid != 0) {
      *foreign += 1;
      continue;
    }
    return message.msg_flags & MSG_TRUNC ? -EMSGSIZE : length;
  }
}
