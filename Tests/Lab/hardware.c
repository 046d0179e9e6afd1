/* To a process that preloads this, links with an index from 10000 on are network cards: they have no kind, a permanent
 * address and a device at a port. Of index CPPLL the card is C, with the address 02:00:5e:00:53:0C, and the port is PP;
 * LL tells its lives apart. A tap can be such a card; its broadcast address makes room for the permanent one. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FIRST_CARD = 10000, OF_NO_MEANING = 0x3ff0 };

static void disguise(struct nlmsghdr *message) {
  struct ifinfomsg *link = NLMSG_DATA(message);
  int rest = (int)(message->nlmsg_len - NLMSG_LENGTH(sizeof *link));
  if (message->nlmsg_type != RTM_NEWLINK && message->nlmsg_type != RTM_DELLINK) return;
  if (rest < 0 || link->ifi_index < FIRST_CARD) return;
  for (struct rtattr *each = IFLA_RTA(link); RTA_OK(each, rest); each = RTA_NEXT(each, rest)) {
    if (each->rta_type == IFLA_LINKINFO) each->rta_type = OF_NO_MEANING;
    if (each->rta_type != IFLA_BROADCAST || RTA_PAYLOAD(each) != 6) continue;
    const unsigned char address[6] = {2, 0, 0x5e, 0, 0x53, (unsigned char)(link->ifi_index / 10000)};
    each->rta_type = IFLA_PERM_ADDRESS;
    memcpy(RTA_DATA(each), address, sizeof address);
  }
}

ssize_t recvmsg(int socket, struct msghdr *header, int flags) {
  const ssize_t length = syscall(SYS_recvmsg, socket, header, flags);
  int kind = 0;
  socklen_t size = sizeof kind;
  if (length <= 0 || getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &kind, &size) != 0 || kind != AF_NETLINK) return length;
  if (header->msg_iovlen != 1 || (size_t)length > header->msg_iov[0].iov_len) return length;
  int rest = (int)length;
  for (struct nlmsghdr *each = header->msg_iov[0].iov_base; NLMSG_OK(each, rest); each = NLMSG_NEXT(each, rest)) {
    disguise(each);
  }
  return length;
}

/* The index of the card of this folder in sysfs, or 0. */
static int card(const char *path) {
  const char *name = strncmp(path, "/sys/class/net/", 15) == 0 ? path + 15 : "";
  char file[PATH_MAX], text[16] = "";
  int index = 0;
  if (*name == 0 || strchr(name, '/') || snprintf(file, sizeof file, "%s/ifindex", path) >= (int)sizeof file) return 0;
  FILE *source = fopen(file, "re");
  if (source == NULL) return 0;
  if (fgets(text, sizeof text, source)) sscanf(text, "%d", &index);
  fclose(source);
  return index >= FIRST_CARD ? index : 0;
}

ssize_t readlinkat(int folder, const char *restrict path, char *restrict target, size_t size) {
  const int index = card(path);
  char text[PATH_MAX];
  if (index == 0) return syscall(SYS_readlinkat, folder, path, target, size);
  const char *form = "../../devices/pci0000:00/0000:00:%02d.0/net/%s";
  int length = snprintf(text, sizeof text, form, index / 100 % 100, path + 15);
  if ((size_t)length > size) length = (int)size;
  memcpy(target, text, (size_t)length);
  return length;
}

/* Whether an open folder is that of a card. */
static int is_of_card(int folder) {
  char own[64], place[PATH_MAX], path[PATH_MAX];
  snprintf(own, sizeof own, "/proc/self/fd/%d", folder);
  const ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, own, place, sizeof place - 1);
  if (length <= 0) return 0;
  place[length] = 0;
  const char *name = strrchr(place, '/');
  return name && snprintf(path, sizeof path, "/sys/class/net%s", name) < (int)sizeof path && card(path);
}

int fstatat(int folder, const char *restrict path, struct stat *restrict status, int flags) {
  if (strcmp(path, "device") != 0 || !is_of_card(folder)) {
    return (int)syscall(SYS_newfstatat, folder, path, status, flags);
  }
  memset(status, 0, sizeof *status);
  return 0;
}
