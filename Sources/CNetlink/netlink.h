#include <netlink/netlink.h>
#include <netlink/route/link.h>
