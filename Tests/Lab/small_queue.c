/* A process that preloads this gets receive buffers of at most $SMALL_QUEUE bytes, as from an administrator's limit. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int setsockopt(int socket, int level, int option, const void *value, socklen_t size) {
  const char *limit = getenv("SMALL_QUEUE");
  const int most = limit ? atoi(limit) : 0;
  if (most > 0 && level == SOL_SOCKET && option == SO_RCVBUFFORCE) {
    errno = EPERM;
    return -1;
  }
  if (most > 0 && level == SOL_SOCKET && option == SO_RCVBUF && size == sizeof(int) && *(const int *)value > most) {
    value = &most;
  }
  return (int)syscall(SYS_setsockopt, socket, level, option, value, size);
}
