// What the numbers in IFLA_INFO_DATA mean for each kind of tunnel that has a far end.
#include "endpoint.h"

#include <linux/if_link.h>
#include <linux/if_tunnel.h>
#include <string.h>

// Absent on older kernel headers; the numbers are the kernel's ABI.
enum { IPTUN_FWMARK = 20, GRE_FWMARK = 20, VTI_FWMARK = 6, XFRM_LINK = 1 };

// 0: the kind has none.
struct layout {
  const char *kind;
  uint8_t remote, remote6, local, local6, mark, link;
};

// An IPv4 and an IPv6 tunnel of one number tell their addresses in attributes of one number, 4 or 16 bytes long.
#define IPTUN IFLA_IPTUN_REMOTE, 0, IFLA_IPTUN_LOCAL, 0, IPTUN_FWMARK, IFLA_IPTUN_LINK
#define GRE IFLA_GRE_REMOTE, 0, IFLA_GRE_LOCAL, 0, GRE_FWMARK, IFLA_GRE_LINK
#define VTI IFLA_VTI_REMOTE, 0, IFLA_VTI_LOCAL, 0, VTI_FWMARK, IFLA_VTI_LINK

static const struct layout layouts[] = {
    {"vxlan", IFLA_VXLAN_GROUP, IFLA_VXLAN_GROUP6, IFLA_VXLAN_LOCAL, IFLA_VXLAN_LOCAL6, 0, IFLA_VXLAN_LINK},
    {"geneve", IFLA_GENEVE_REMOTE, IFLA_GENEVE_REMOTE6, 0, 0, 0, 0},
    {"ipip", IPTUN}, {"ip6tnl", IPTUN}, {"sit", IPTUN},
    {"gre", GRE}, {"gretap", GRE}, {"ip6gre", GRE}, {"ip6gretap", GRE}, {"erspan", GRE}, {"ip6erspan", GRE},
    {"vti", VTI}, {"vti6", VTI},
    {"xfrm", 0, 0, 0, 0, 0, XFRM_LINK},
};

// An address of 4 or 16 bytes that is not all zero, which stands for any.
static void take(const struct nlattr *data, int type, uint8_t *to, uint8_t *length) {
  static const uint8_t any[16];
  const struct nlattr *at = type == 0 || *length > 0 ? NULL : nla_find(nla_data(data), nla_len(data), type);
  const int size = at ? nla_len(at) : 0;
  if ((size != 4 && size != 16) || memcmp(nla_data(at), any, (size_t)size) == 0) return;
  memcpy(to, nla_data(at), (size_t)size);
  *length = (uint8_t)size;
}

static uint32_t number(const struct nlattr *data, int type) {
  const struct nlattr *at = type == 0 ? NULL : nla_find(nla_data(data), nla_len(data), type);
  return at && nla_len(at) >= 4 ? nla_get_u32(at) : 0;
}

struct ls_endpoint ls_parse_endpoint(const uint8_t *kind, size_t kind_length, const struct nlattr *data) {
  struct ls_endpoint found = {0};
  for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
    const struct layout *layout = &layouts[i];
    if (strlen(layout->kind) != kind_length || memcmp(layout->kind, kind, kind_length) != 0) continue;
    take(data, layout->remote, found.remote, &found.remote_length);
    take(data, layout->remote6, found.remote, &found.remote_length);
    take(data, layout->local, found.local, &found.local_length);
    take(data, layout->local6, found.local, &found.local_length);
    found.mark = number(data, layout->mark);
    found.lower = number(data, layout->link);
    // Not one source for both families: it says nothing of this far end.
    if (found.local_length != found.remote_length) found.local_length = 0;
    break;
  }
  return found;
}
