/* The public header compiles as C99, pedantically, and alone; so do the ways of using it in that language. */
#include <tailrace/tailrace.h>

tailrace_status use_of_the_header_c99(void);

tailrace_status use_of_the_header_c99(void) {
  tailrace_ticket ticket = {0, 0};
  tailrace_stats stats = {0};
  stats.struct_size = sizeof stats;
  return tailrace_wait(ticket, 0);
}
