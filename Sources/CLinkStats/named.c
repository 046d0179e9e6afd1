// Asking for links by their name: one ioctl for each fact.
#include "ls_named.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

// The kernel answers these on a socket of any family, and one of AF_UNIX is allowed wherever the API is served.
int ls_named_open(void) {
  const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  return descriptor < 0 ? -errno : descriptor;
}

static int prepare(struct ifreq *request, const uint8_t *name, size_t length) {
  if (length == 0 || length >= sizeof request->ifr_name || memchr(name, 0, length)) return -EINVAL;
  memset(request, 0, sizeof *request);
  memcpy(request->ifr_name, name, length);
  return 0;
}

int ls_named_index(int descriptor, const uint8_t *name, size_t length) {
  struct ifreq request;
  const int error = prepare(&request, name, length);
  if (error < 0) return error;
  if (ioctl(descriptor, SIOCGIFINDEX, &request) < 0) return -errno;
  return request.ifr_ifindex > 0 ? request.ifr_ifindex : -EBADMSG;
}

int ls_named_exists(int descriptor, uint32_t ifindex) {
  struct ifreq request = {.ifr_ifindex = (int)ifindex};
  if (ioctl(descriptor, SIOCGIFNAME, &request) == 0) return 1;
  return errno == ENODEV || errno == ENXIO ? 0 : -errno;
}

// The socket address does not tell how long the address in it is.
static uint8_t address_length(uint16_t hardware_type) {
  switch (hardware_type) {
    case ARPHRD_ETHER:
    case ARPHRD_IEEE80211:
    case ARPHRD_IEEE80211_PRISM:
    case ARPHRD_IEEE80211_RADIOTAP:
      return 6;
    default:
      return 0;
  }
}

static void ask_ethtool(int descriptor, struct ifreq *request, struct ls_named *named) {
  struct ethtool_drvinfo driver = {.cmd = ETHTOOL_GDRVINFO};
  request->ifr_data = (char *)&driver;
  if (ioctl(descriptor, SIOCETHTOOL, request) == 0) {
    named->driver_length = (uint8_t)strnlen(driver.driver, LS_NAMED_DRIVER_MAX);
    memcpy(named->driver, driver.driver, named->driver_length);
  }
  _Alignas(struct ethtool_perm_addr) uint8_t answer[sizeof(struct ethtool_perm_addr) + LS_NAMED_ADDRESS_MAX] = {0};
  struct ethtool_perm_addr *address = (struct ethtool_perm_addr *)answer;
  address->cmd = ETHTOOL_GPERMADDR;
  address->size = LS_NAMED_ADDRESS_MAX;
  request->ifr_data = (char *)answer;
  if (ioctl(descriptor, SIOCETHTOOL, request) == 0 && address->size <= LS_NAMED_ADDRESS_MAX) {
    named->permanent_address_length = (uint8_t)address->size;
    memcpy(named->permanent_address, address->data, address->size);
  }
}

void ls_named_describe(int descriptor, const uint8_t *name, size_t length, struct ls_named *ret_named) {
  struct ls_named named = {0};
  struct ifreq request;
  if (prepare(&request, name, length) == 0) {
    if (ioctl(descriptor, SIOCGIFFLAGS, &request) == 0) named.flags = (uint16_t)request.ifr_flags;
    if (ioctl(descriptor, SIOCGIFMTU, &request) == 0 && request.ifr_mtu > 0) named.mtu = (uint32_t)request.ifr_mtu;
    if (ioctl(descriptor, SIOCGIFHWADDR, &request) == 0) {
      named.hardware_type = request.ifr_hwaddr.sa_family;
      named.address_length = address_length(named.hardware_type);
      memcpy(named.address, request.ifr_hwaddr.sa_data, named.address_length);
    }
    ask_ethtool(descriptor, &request, &named);
  }
  *ret_named = named;
}
