// A plugin that does everything that plugins do, right and wrong.
#include <tailrace/plugin.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

TAILRACE_PLUGIN

// Reports what it got, and the sum of each block of doubles.
TAILRACE_PLUGIN_EXPORT int sums(const tailrace_plugin_call* call) {
  call->report_text(call, "event", call->event);
  call->report(call, "iteration", static_cast<double>(call->iteration));
  call->report(call, "clients", static_cast<double>(call->client_count));
  for (size_t i = 0; i < call->block_count; ++i) {
    const tailrace_plugin_block* block = tailrace_plugin_block_at(call, i);
    double sum = 0;
    uint64_t elements = 1;
    for (int axis = 0; axis < block->rank; ++axis) elements *= block->shape[axis];
    for (uint64_t k = 0; k < elements; ++k) sum += static_cast<const double*>(block->data)[k];
    const std::string key =
        std::string(block->variable) + "/" + std::to_string(block->iteration) + "/" + std::to_string(block->source);
    const std::vector<double> of = {sum, static_cast<double>(block->offset[0]),
                                    static_cast<double>(block->global_shape[0])};
    call->report_array(call, key.c_str(), of.data(), of.size());
  }
  call->message(call, "sums are made");
  return 0;
}

// Calls in this process so far.
TAILRACE_PLUGIN_EXPORT int count(const tailrace_plugin_call* call) {
  static int calls = 0;
  call->report(call, "calls", ++calls);
  return 0;
}

TAILRACE_PLUGIN_EXPORT int fails(const tailrace_plugin_call* call) {
  std::puts("about to fail");
  call->error(call, "no storm in the data");
  return 3;
}

TAILRACE_PLUGIN_EXPORT int fails_in_silence(const tailrace_plugin_call*) { return 7; }

TAILRACE_PLUGIN_EXPORT int throws(const tailrace_plugin_call*) { throw std::runtime_error("no such storm"); }

TAILRACE_PLUGIN_EXPORT int throws_a_number(const tailrace_plugin_call*) { throw 5; }

TAILRACE_PLUGIN_EXPORT int crashes(const tailrace_plugin_call*) {
  std::puts("about to crash");
  return std::raise(SIGSEGV);
}

TAILRACE_PLUGIN_EXPORT int leaves(const tailrace_plugin_call*) { _exit(42); }

TAILRACE_PLUGIN_EXPORT int hangs(const tailrace_plugin_call*) {
  while (true) pause();
}

// Leaves a process behind that hangs, and holds all that this one has open.
TAILRACE_PLUGIN_EXPORT int leaves_a_child(const tailrace_plugin_call* call) {
  if (fork() == 0) hangs(call);
  _exit(1);
}

TAILRACE_PLUGIN_EXPORT int writes(const tailrace_plugin_call* call) {
  *static_cast<volatile char*>(const_cast<void*>(tailrace_plugin_block_at(call, 0)->data)) = 1;
  return 0;
}

TAILRACE_PLUGIN_EXPORT int prints_much(const tailrace_plugin_call*) {
  const std::string line(1023, 'x');
  for (int i = 0; i < 1024; ++i) std::puts(line.c_str());
  return 0;
}

TAILRACE_PLUGIN_EXPORT int reports_too_much(const tailrace_plugin_call* call) {
  const std::vector<double> many(size_t{3} << 20);
  call->report_array(call, "many", many.data(), many.size());
  return 0;
}

TAILRACE_PLUGIN_EXPORT int reports_without_a_key(const tailrace_plugin_call* call) {
  call->report(call, nullptr, 1);
  return 0;
}

TAILRACE_PLUGIN_EXPORT int reports_twice(const tailrace_plugin_call* call) {
  call->report(call, "key", 1);
  call->report_text(call, "key", "two");
  return 0;
}

// Ends its output, and goes on.
TAILRACE_PLUGIN_EXPORT int closes_its_output(const tailrace_plugin_call* call) {
  close(1);
  close(2);
  call->report(call, "closed", 1);
  return 0;
}

TAILRACE_PLUGIN_EXPORT int says_no_text(const tailrace_plugin_call* call) {
  call->message(call, "caf\xe9 \x1b[31m caf\xc3\xa9 \xed\xa0\x80 \xf0\x9f\x8c\x80\xc0\xaf");
  call->report_text(call, "k\xff", "v\xff");
  std::puts("\x80");
  return 0;
}

// Sends bytes that are not an answer, on a descriptor that is not its own.
TAILRACE_PLUGIN_EXPORT int answers_wrongly(const tailrace_plugin_call* call) {
  char wrong[32] = {};
  if (write(3, wrong, sizeof wrong) < 0) return 1;
  return hangs(call);
}
