// The memory of the lists that callers own.
#include "lists.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "CLinkStats.h"

enum { FIRST_CAPACITY = 32, LARGEST_CAPACITY = 1 << 20 };

int ls_make_room(void *items, size_t count, size_t *capacity, size_t item_size) {
  if (count < *capacity) return 0;
  const size_t wanted = *capacity == 0 ? FIRST_CAPACITY : *capacity * 2;
  if (wanted > LARGEST_CAPACITY) return -E2BIG;
  void *old;
  memcpy(&old, items, sizeof old);
  void *grown = realloc(old, wanted * item_size);
  if (grown == NULL) return -ENOMEM;
  memcpy(items, &grown, sizeof grown);
  *capacity = wanted;
  return 0;
}

void ls_stats_free(struct ls_stats *stats) {
  free(stats->items);
  *stats = (struct ls_stats){0};
}

void ls_links_free(struct ls_links *links) {
  free(links->items);
  *links = (struct ls_links){0};
}

void ls_addresses_free(struct ls_addresses *addresses) {
  free(addresses->items);
  *addresses = (struct ls_addresses){0};
}
