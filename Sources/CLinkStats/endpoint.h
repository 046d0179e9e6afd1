// The far end of a tunnel out of IFLA_INFO_DATA.
#ifndef CLINKSTATS_ENDPOINT_H
#define CLINKSTATS_ENDPOINT_H

#include <netlink/attr.h>

#include "ls_routes.h"

// Reads what `data`, the IFLA_INFO_DATA of a link of this kind, tells; all zero for other kinds and where it tells
// nothing. Attributes that do not fit are passed over.
struct ls_endpoint ls_parse_endpoint(const uint8_t *kind, size_t kind_length, const struct nlattr *data);

#endif
