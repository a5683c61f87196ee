/* Gives a server the wall clock of a script: the microseconds in the file that SCRIPTED_CLOCK names.
 *
 * Preloaded into a server. Its steps, ids of stream entries, idle times and expiries then follow that clock; monotonic
 * clocks stay real. Built by scripted_server.py:  cc -shared -fPIC -O1 -o scripted_clock.so scripted_clock.c -ldl
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *now_us;

__attribute__((constructor)) static void open_clock(void) {
  const char *name = getenv("SCRIPTED_CLOCK");
  int file = name == NULL ? -1 : open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) abort();
  void *mapped = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) abort();
  now_us = mapped;
  close(file);
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  if (now_us == NULL) return -1;
  int64_t now = *now_us;
  time->tv_sec = now / 1000000;
  time->tv_usec = now % 1000000;
  return 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  static int (*real)(clockid_t, struct timespec *);
  if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) {
    if (real == NULL) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    return real(clock, time);
  }
  if (now_us == NULL) return -1;
  int64_t now = *now_us;
  time->tv_sec = now / 1000000;
  time->tv_nsec = now % 1000000 * 1000;
  return 0;
}

time_t time(time_t *into) {
  time_t now = now_us == NULL ? 0 : *now_us / 1000000;
  if (into != NULL) *into = now;
  return now;
}
