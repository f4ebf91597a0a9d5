// Linked into programs of more ranks than there are processors: MPICH waits by looking again and again (by UCX), and
// who is waited for gets the processor only when the scheduler thinks that it is time. A rank that finds nothing lets
// the others go on; the tests then take a tenth of the time. Of an MPI without UCX nobody calls this.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void* worker);

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*original)(void*);
  if (original == 0) *(void**)&original = dlsym(RTLD_NEXT, "ucp_worker_progress");
  const unsigned progress = original(worker);
  if (progress == 0) sched_yield();
  return progress;
}
