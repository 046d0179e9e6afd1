// A libFuzzer target: any bytes through the message parser, whole and message by message as a datagram holds them.
#include <stdlib.h>
#include <string.h>

#include "CLinkStats.h"

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
                        link.address_length <= LS_HARDWARE_MAX && link.permanent_address_length <= LS_HARDWARE_MAX;
    if (!bounded) abort();
    for (int i = 0; i < link.altname_count; i++) {
      if (link.altnames[i].length > LS_ALTNAME_MAX) abort();
    }
  }
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
    const uint16_t types[] = {16, 17, 92, 88, 89};
    const uint16_t type = types[bytes[4] % 5];
    memcpy(message, &total, sizeof total);
    memcpy(message + 4, &type, sizeof type);
    parse_exact(message, length);
    free(message);
  }
  return 0;
}
