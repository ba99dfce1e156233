/* Makes system calls on files below a folder fail, for LD_PRELOAD.

   FAULT_ROOT    the folder
   FAULT_LOG     a file outside of it that gets a byte for each call: the number of a call is the
                 length of the file, whichever process makes it
   FAULT_NUMBER  number of the call that fails; 0: none
   FAULT_ERRNO   its error
   FAULT_FOREVER whether all calls from then on fail too
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static int below(const char *path) {
  const char *root = getenv("FAULT_ROOT");
  return root && path && strncmp(path, root, strlen(root)) == 0;
}

static int open_below(int descriptor) {
  char name[64], path[PATH_MAX];
  snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, name, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return below(path);
}

static int fails(void) {
  const char *log = getenv("FAULT_LOG"), *number = getenv("FAULT_NUMBER");
  if (!log) return 0;
  int before = errno;
  int descriptor = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return 0;
  syscall(SYS_write, descriptor, ".", 1);
  long count = syscall(SYS_lseek, descriptor, 0, SEEK_CUR);
  syscall(SYS_close, descriptor);
  long failing = number ? atol(number) : 0;
  errno = before;
  if (!failing || count < failing || (count > failing && !getenv("FAULT_FOREVER"))) return 0;
  errno = atoi(getenv("FAULT_ERRNO"));
  return 1;
}

#define REAL(type, name) ((type)dlsym(RTLD_NEXT, name))

#define OPEN(name, AT_PARAMETER, AT_ARGUMENT)                                    \
  int name(AT_PARAMETER const char *path, int flags, ...) {                      \
    va_list list;                                                                \
    va_start(list, flags);                                                       \
    mode_t mode = va_arg(list, mode_t);                                          \
    va_end(list);                                                                \
    if ((flags & (O_CREAT | O_WRONLY | O_RDWR)) && below(path) && fails())       \
      return -1;                                                                 \
    return REAL(int (*)(AT_PARAMETER const char *, int, ...), #name)(            \
        AT_ARGUMENT path, flags, mode);                                          \
  }
#define NOTHING
#define FOLDER_PARAMETER int folder,
#define FOLDER_ARGUMENT folder,
OPEN(open, NOTHING, NOTHING)
OPEN(open64, NOTHING, NOTHING)
OPEN(openat, FOLDER_PARAMETER, FOLDER_ARGUMENT)
OPEN(openat64, FOLDER_PARAMETER, FOLDER_ARGUMENT)

#define ON_DESCRIPTOR(result, name, PARAMETERS, ARGUMENTS)                       \
  result name PARAMETERS {                                                       \
    if (open_below(descriptor) && fails()) return -1;                            \
    return REAL(result(*) PARAMETERS, #name) ARGUMENTS;                          \
  }
ON_DESCRIPTOR(ssize_t, write, (int descriptor, const void *data, size_t size), (descriptor, data, size))
ON_DESCRIPTOR(ssize_t, pwrite64, (int descriptor, const void *data, size_t size, off_t at), (descriptor, data, size, at))
ON_DESCRIPTOR(int, fsync, (int descriptor), (descriptor))
ON_DESCRIPTOR(int, ftruncate64, (int descriptor, off_t size), (descriptor, size))
ON_DESCRIPTOR(int, fchmod, (int descriptor, mode_t mode), (descriptor, mode))

int rename(const char *from, const char *to) {
  if (below(to) && fails()) return -1;
  return REAL(int (*)(const char *, const char *), "rename")(from, to);
}

int mkdir(const char *path, mode_t mode) {
  if (below(path) && fails()) return -1;
  return REAL(int (*)(const char *, mode_t), "mkdir")(path, mode);
}
