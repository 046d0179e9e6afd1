// Opening route netlink sockets, and receiving from the kernel alone.
#define _GNU_SOURCE
#include "socket.h"

#include <errno.h>
#include <linux/net_namespace.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "CLinkStats.h"
#include "parse.h"

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

static int32_t origin(struct msghdr *message) {
  int32_t where = LS_HERE;
  for (struct cmsghdr *at = CMSG_FIRSTHDR(message); at; at = CMSG_NXTHDR(message, at)) {
    if (at->cmsg_level != SOL_NETLINK || at->cmsg_type != NETLINK_LISTEN_ALL_NSID) continue;
    if (at->cmsg_len >= CMSG_LEN(sizeof where)) memcpy(&where, CMSG_DATA(at), sizeof where);
  }
  return where < 0 ? LS_HERE : where;
}

ssize_t ls_socket_receive(int descriptor, void *buffer, size_t capacity, uint32_t *foreign, int32_t *ret_where) {
  // Room for what the opener of an inherited socket may have asked for besides.
  char control[256] __attribute__((aligned(__alignof__(struct cmsghdr))));
  for (;;) {
    struct sockaddr_nl sender = {0};
    struct iovec part = {.iov_base = buffer, .iov_len = capacity};
    struct msghdr message = {.msg_name = &sender, .msg_namelen = sizeof sender, .msg_iov = &part, .msg_iovlen = 1};
    if (ret_where) {
      message.msg_control = control;
      message.msg_controllen = sizeof control;
    }
    const ssize_t length = recvmsg(descriptor, &message, 0);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return -errno;
    if (message.msg_namelen != sizeof sender || sender.nl_family != AF_NETLINK || sender.nl_pid != 0) {
      *foreign += 1;
      continue;
    }
    // Without all of its control data an event of another namespace could pass for one of ours.
    if (message.msg_flags & MSG_TRUNC || (ret_where && message.msg_flags & MSG_CTRUNC)) return -EMSGSIZE;
    if (ret_where) *ret_where = origin(&message);
    return length;
  }
}

int ls_own_namespace(int32_t *ret_id) {
  const struct {
    struct nlmsghdr header;
    struct rtgenmsg general;
    uint8_t padding[NLMSG_ALIGN(sizeof(struct rtgenmsg)) - sizeof(struct rtgenmsg)];
    struct nlattr attribute;
    int32_t thread;
  } question = {
      .header = {.nlmsg_len = sizeof question, .nlmsg_type = RTM_GETNSID, .nlmsg_flags = NLM_F_REQUEST},
      .general = {.rtgen_family = AF_UNSPEC},
      .attribute = {.nla_len = NLA_HDRLEN + sizeof question.thread, .nla_type = NETNSA_PID},
      .thread = gettid(),
  };
  _Static_assert(sizeof question == NLMSG_HDRLEN + NLMSG_ALIGN(sizeof question.general) + NLA_HDRLEN + 4, "no holes");
  const int descriptor = ls_socket_open(SOCK_NONBLOCK);
  if (descriptor < 0) return descriptor;
  char answer[512] __attribute__((aligned(NLMSG_ALIGNTO)));
  uint32_t dropped = 0;
  ssize_t length = send(descriptor, &question, sizeof question, 0) < 0 ? -errno : 0;
  // Answered by the time that it was sent.
  if (length == 0) length = ls_socket_receive(descriptor, answer, sizeof answer, &dropped, NULL);
  close(descriptor);
  if (length < 0) return (int)length;
  const struct nlmsghdr *header = (const struct nlmsghdr *)answer;
  if (!nlmsg_ok(header, (int)length) || header->nlmsg_type != RTM_NEWNSID) return -EBADMSG;
  int32_t id = LS_HERE;
  const int what = ls_parse_namespace(header, &id);
  if (what < 0) return what;
  *ret_id = id;
  return 0;
}
