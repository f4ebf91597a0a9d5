/* Actions of events, as a dynamic library: each writes a line to the file that REPLAY_EVENTS names. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ACTION(function)                                                                                     \
  __attribute__((visibility("default"))) void function(const char* event, int32_t source, int32_t iteration, \
                                                       const char* arguments) {                              \
    FILE* to = fopen(getenv("REPLAY_EVENTS"), "a");                                                          \
    if (to == NULL) return;                                                                                  \
    fprintf(to, #function " %s %d %d '%s'\n", event, (int)source, (int)iteration, arguments);                \
    fclose(to);                                                                                              \
  }

ACTION(one)
ACTION(all_of_a_server)
ACTION(on_each_server)
ACTION(when_all_have)
ACTION(here)
