// Growing the lists that callers own.
#ifndef CLINKSTATS_LISTS_H
#define CLINKSTATS_LISTS_H

#include <stddef.h>

// Makes room for one more item: `items` points at the list's pointer. Returns 0, -ENOMEM, or -E2BIG at a million items,
// which no machine has and only a broken sender gives.
int ls_make_room(void *items, size_t count, size_t *capacity, size_t item_size);

#endif
