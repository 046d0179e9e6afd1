// A file in memory alone.
#define _GNU_SOURCE
#include "ls_memory.h"

#include <errno.h>
#include <sys/mman.h>

int ls_memory_create(const char *name) {
  const int descriptor = memfd_create(name, MFD_CLOEXEC);
  return descriptor < 0 ? -errno : descriptor;
}
