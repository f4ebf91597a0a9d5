// The public header compiles as C++11, pedantically, and alone; so does code that uses it in that language.
#include <tailrace/tailrace.h>

tailrace_status use_of_the_header_cpp11();

tailrace_status use_of_the_header_cpp11() {
  const tailrace_ticket ticket = {nullptr, 0};
  tailrace_open_options options = tailrace_open_options();
  options.struct_size = sizeof options;
  return tailrace_wait(ticket, 0);
}
