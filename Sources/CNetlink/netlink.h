// What of libnl-3 and libnl-route-3 is used here.
#include <netlink/netlink.h>
#include <netlink/route/link.h>
