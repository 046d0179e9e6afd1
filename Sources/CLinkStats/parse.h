// The parser's inside, for the dumps and the event socket of this module.
#ifndef CLINKSTATS_PARSE_H
#define CLINKSTATS_PARSE_H

#include <netlink/msg.h>

#include "CLinkStats.h"

// Each takes a whole message (nlmsg_ok has passed) and returns what ls_parse_message does.
int ls_parse_link(const struct nlmsghdr *header, struct ls_link *ret_link);
// RTM_NEWSTATS.
int ls_parse_stats(const struct nlmsghdr *header, struct ls_stat *ret_stat);
// The counters alone of an RTM_NEWLINK.
int ls_parse_link_counters(const struct nlmsghdr *header, struct ls_stat *ret_stat);

// RTM_NEWNSID or RTM_DELNSID; LS_IGNORED when it has no id.
int ls_parse_namespace(const struct nlmsghdr *header, int32_t *ret_namespace);

#endif
