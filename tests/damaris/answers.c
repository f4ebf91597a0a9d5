/* A library to preload: chosen calls of tailrace's C interface answer as if something had failed. TAILRACE_ANSWERS is
 * a list, such as "commit:2=302,write:1=201": the second tailrace_commit of the process is carried out and returns
 * TAILRACE_EARLIER_FAILURE, the first tailrace_write is not carried out and returns TAILRACE_TIMEOUT. "random:7" lets
 * calls answer so at random, from the seed 7; no call is refused twice in a row. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tailrace/tailrace.h>

enum { NAMES = 8 };
static const char* const names[NAMES] = {"write",          "alloc",  "alloc_kept",    "commit",
                                         "set_parameters", "enable", "end_iteration", "flush"};

static unsigned next_random(void) {
  static unsigned long long state;
  if (state == 0) state = strtoull(getenv("TAILRACE_ANSWERS") + strlen("random:"), NULL, 10) * 2 + 1;
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(state >> 33);
}

/* Returns the answer of this call; TAILRACE_OK: its own. */
static tailrace_status answer(int name) {
  static long calls[NAMES];
  static int refused;
  const char* const list = getenv("TAILRACE_ANSWERS");
  if (list == NULL) return TAILRACE_OK;
  ++calls[name];
  if (strncmp(list, "random:", strlen("random:")) == 0) {
    const unsigned choice = next_random() % 6;
    refused = choice == 0 && !refused;
    return refused ? TAILRACE_TIMEOUT : choice < 3 ? TAILRACE_EARLIER_FAILURE : TAILRACE_OK;
  }
  char copy[256];
  snprintf(copy, sizeof copy, "%s", list);
  for (char* word = strtok(copy, ","); word != NULL; word = strtok(NULL, ",")) {
    char one[32];
    long number = 0;
    int status = 0;
    const int read = sscanf(word, "%31[^:]:%ld=%d", one, &number, &status);
    if (read == 3 && number == calls[name] && strcmp(one, names[name]) == 0) return (tailrace_status)status;
  }
  return TAILRACE_OK;
}

#define ANSWER(number, name, parameters, arguments)                              \
  tailrace_status tailrace_##name parameters {                                   \
    static tailrace_status(*real) parameters;                                    \
    if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "tailrace_" #name);      \
    const tailrace_status given = answer(number);                                \
    if (given != TAILRACE_OK && given != TAILRACE_EARLIER_FAILURE) return given; \
    const tailrace_status own = real arguments;                                  \
    return own == TAILRACE_OK ? given : own;                                     \
  }

ANSWER(0, write, (tailrace_client * c, const char* v, int64_t i, const void* d), (c, v, i, d))
ANSWER(1, alloc, (tailrace_client * c, const char* v, int64_t i, void** d), (c, v, i, d))
ANSWER(2, alloc_kept, (tailrace_client * c, const char* v, int64_t i, void** d, tailrace_memory** m), (c, v, i, d, m))
ANSWER(3, commit, (tailrace_client * c, const char* v, int64_t i), (c, v, i))
ANSWER(4, set_parameters, (tailrace_client * c, const tailrace_parameter* p, size_t n), (c, p, n))
ANSWER(5, enable, (tailrace_client * c, const char* v, int on), (c, v, on))
ANSWER(6, end_iteration, (tailrace_client * c, int64_t i), (c, i))
ANSWER(7, flush, (tailrace_client * c), (c))
