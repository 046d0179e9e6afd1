// A libFuzzer target: any bytes through the message parser, whole and message by message as a datagram holds them.
#include <stdlib.h>
#include <string.h>

#include "CLinkStats.h"

enum { WIREGUARD_FAMILY = 30 };  // any number that is no type of route netlink

static void parse_exact(const uint8_t *bytes, size_t length) {
  // A block of exactly this size, so that AddressSanitizer sees the first byte read past it.
  void *copy = malloc(length ? length : 1);
  if (copy == NULL) return;
  memcpy(copy, bytes, length);
  struct ls_link link;
  struct ls_stat stat;
  int32_t namespace_id = -1;
  memset(&link, 0, sizeof link);
  const int what = ls_parse_message(copy, length, &link, &stat, &namespace_id);
  if ((what == LS_NAMESPACE || what == LS_NAMESPACE_GONE) != (namespace_id >= 0)) abort();
  if (what == LS_LINK || what == LS_LINK_GONE) {
    const int bounded = link.name_length <= LS_NAME_MAX && link.kind_length <= LS_KIND_MAX &&
                        link.port_kind_length <= LS_KIND_MAX && link.altname_count <= LS_ALTNAMES_MAX &&
                        link.address_length <= LS_HARDWARE_MAX && link.permanent_address_length <= LS_HARDWARE_MAX &&
                        link.endpoint.remote_length <= 16 && link.endpoint.local_length <= 16;
    if (!bounded) abort();
    for (int i = 0; i < link.altname_count; i++) {
      if (link.altnames[i].length > LS_ALTNAME_MAX) abort();
    }
  }
  uint32_t ifindex = 0, mark = 0, defaults[2] = {0};
  struct ls_endpoint endpoints[2];
  if (ls_route_parse(copy, length, &ifindex) == 0 && ifindex == 0) abort();
  if (ls_default_routes_parse(copy, length, defaults, 1, 2) > 2) abort();
  if (ls_wireguard_parse(copy, length, WIREGUARD_FAMILY, endpoints, 0, 2, &mark) > 2) abort();
  free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
  parse_exact(bytes, length);
  // The same bytes as a message that is consistent in its own length, which mutation seldom finds.
  if (length >= 16 && length < 65536) {
    uint8_t *message = malloc(length);
    if (message == NULL) return 0;
    memcpy(message, bytes, length);
    const uint32_t total = (uint32_t)length;
    const uint16_t types[] = {16, 17, 92, 88, 89, 24, WIREGUARD_FAMILY};
    const uint16_t type = types[bytes[4] % 7];
    memcpy(message, &total, sizeof total);
    memcpy(message + 4, &type, sizeof type);
    parse_exact(message, length);
    free(message);
  }
  return 0;
}
