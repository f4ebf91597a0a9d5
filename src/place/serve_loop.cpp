#include "place/serve_loop.hpp"

namespace tailrace::impl {

void ServeLoop::run(RequestSink& sink) {
  for (;;) {
    if (work(sink)) continue;
    doorbell_.prepare();
    // Only now is every ring certain to be noticed: look once more at all sources of work.
    const bool stopping = stopping_.load(std::memory_order_acquire);
    if (work(sink)) {
      doorbell_.cancel();
      continue;
    }
    if (stopping && channel_.ring.empty() && sink.idle()) return;
    doorbell_.sleep(sink.due_in());
  }
}

void ServeLoop::stop() {
  // release: a server that sees the flag sees everything sent before; partner: the acquire in run().
  stopping_.store(true, std::memory_order_release);
  doorbell_.ring();
}

// Takes verbs from the ring and advances the sink. Returns true if it took any, or could take more at once: the sink
// may have made room meanwhile, and nobody rings for that.
bool ServeLoop::work(RequestSink& sink) {
  bool took = false;
  Descriptor descriptor;
  while (sink.ready() && channel_.ring.pop(descriptor)) {
    sink.accept(descriptor);
    took = true;
  }
  sink.progress();
  if (took) channel_.client_bell.ring();  // the ring has room again
  return took || (sink.ready() && !channel_.ring.empty());
}

}  // namespace tailrace::impl
