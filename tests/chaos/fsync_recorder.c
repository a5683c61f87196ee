/* Notes how long a file was when it was last made durable: what would be left of it after a power cut.
 *
 * Preloaded into a server. After each fsync or fdatasync that returns, "<size> <path>" is appended to the file that
 * SYNCED_LOG names. Built by test_power_loss.py:  cc -shared -fPIC -O1 -o fsync_recorder.so fsync_recorder.c -ldl
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void note(int fd, off_t size) {
  char link[64], path[4096], line[4200];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  const char *log = getenv("SYNCED_LOG");
  if (length < 0 || log == NULL) return;
  path[length] = 0;
  int out = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (out < 0) return;
  int size_of_line = snprintf(line, sizeof line, "%lld %s\n", (long long)size, path);
  if (write(out, line, (size_t)size_of_line) < 0) { /* nothing to be done */ }
  close(out);
}

static int synced(const char *name, int fd) {
  struct stat before;
  int known = fstat(fd, &before); /* what is written while the call runs may not be covered by it */
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  int result = real(fd);
  if (result == 0 && known == 0 && S_ISREG(before.st_mode)) note(fd, before.st_size);
  return result;
}

int fsync(int fd) { return synced("fsync", fd); }
int fdatasync(int fd) { return synced("fdatasync", fd); }
