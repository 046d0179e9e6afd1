/* The disk of a process that preloads this hangs, fails, writes short or tears as the file $FAULTY_DISK says. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Shared with the test, which knows the fields by their order. */
struct faults {
  int32_t hang;        /* calls wait while this is not 0 */
  int32_t hanging;     /* how many do */
  int32_t error;       /* the errno of calls that fail */
  int32_t failures;    /* so many calls will fail; -1: all */
  int32_t longest;     /* bytes that one write takes; 0: all */
  int32_t tear_at;     /* this write takes half of its bytes, and the process is killed */
  int32_t writes;      /* how many there were */
};

static volatile struct faults *faults;

__attribute__((constructor)) static void open_faults(void) {
  const char *path = getenv("FAULTY_DISK");
  int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (file < 0) abort();
  void *shared = mmap(NULL, sizeof *faults, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (shared == MAP_FAILED) abort();
  faults = shared;
}

/* Only the store is on that disk. */
static int is_store(int file) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, "iftally.db") != NULL;
}

/* Waits while the disk hangs; -1 with errno when the call is to fail. */
static int suffer(int file) {
  if (!faults || !is_store(file)) return 0;
  if (faults->hang) {
    __atomic_add_fetch(&faults->hanging, 1, __ATOMIC_SEQ_CST);
    while (faults->hang) nanosleep(&(struct timespec){0, 5000000}, NULL);
    __atomic_sub_fetch(&faults->hanging, 1, __ATOMIC_SEQ_CST);
  }
  if (faults->failures) {
    if (faults->failures > 0) faults->failures--;
    errno = faults->error;
    return -1;
  }
  return 0;
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
  if (suffer(file) < 0) return -1;
  if (faults && is_store(file)) {
    if (++faults->writes == faults->tear_at) {
      syscall(SYS_pwrite64, file, bytes, count / 2, offset);
      kill(getpid(), SIGKILL);
      pause();
    }
    if (faults->longest && count > (size_t)faults->longest) count = (size_t)faults->longest;
  }
  return syscall(SYS_pwrite64, file, bytes, count, offset);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) { return pwrite64(file, bytes, count, offset); }

int fsync(int file) { return suffer(file) < 0 ? -1 : (int)syscall(SYS_fsync, file); }

int fdatasync(int file) { return suffer(file) < 0 ? -1 : (int)syscall(SYS_fdatasync, file); }

int ftruncate64(int file, off64_t length) { return suffer(file) < 0 ? -1 : (int)syscall(SYS_ftruncate, file, length); }

int ftruncate(int file, off_t length) { return ftruncate64(file, length); }
