// Functions that an old C library does not have. sysroot.sh puts them into the archive that every program and library
// of the sysroot is linked with; their names are hidden in each.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

// libstdc++ reads it, and glibc has it from 2.32 on: true while a process has one thread. False is always right.
char __libc_single_threaded = 0;

// libstdc++ calls it, and glibc has it from 2.36 on. Returns a random number.
unsigned arc4random(void) {
  unsigned number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) abort();
  return number;
}

// These two wait until a time of any clock, which glibc does from 2.30 on. The compilers of the sysroot give them
// other names. They call the C library's own functions where it has them. Else they wait until the time of day that
// is as far away now: if someone sets that clock meanwhile, the wait ends too early or too late by as much.
#undef pthread_cond_clockwait
#undef pthread_mutex_clocklock
int pthread_cond_clockwait(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*)
    __attribute__((weak));
int pthread_mutex_clocklock(pthread_mutex_t*, clockid_t, const struct timespec*) __attribute__((weak));

static struct timespec time_of_day(clockid_t clock, const struct timespec* until) {
  struct timespec there, here;
  clock_gettime(clock, &there);
  clock_gettime(CLOCK_REALTIME, &here);
  long nanoseconds = until->tv_nsec - there.tv_nsec + here.tv_nsec;
  time_t seconds = until->tv_sec - there.tv_sec + here.tv_sec;
  for (; nanoseconds < 0; nanoseconds += 1000000000) --seconds;
  for (; nanoseconds >= 1000000000; nanoseconds -= 1000000000) ++seconds;
  return (struct timespec){seconds, nanoseconds};
}

int later_pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                 const struct timespec* until) {
  if (pthread_cond_clockwait) return pthread_cond_clockwait(condition, mutex, clock, until);
  const struct timespec time = time_of_day(clock, until);
  return pthread_cond_timedwait(condition, mutex, &time);
}

int later_pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  if (pthread_mutex_clocklock) return pthread_mutex_clocklock(mutex, clock, until);
  const struct timespec time = time_of_day(clock, until);
  return pthread_mutex_timedlock(mutex, &time);
}
