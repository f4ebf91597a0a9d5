#include "place/serve_loop.hpp"

namespace tailrace::impl {

void ServeLoop::run(RequestSink& sink) {
  for (;;) {
    if (work(sink)) continue;
    doorbell_.prepare();
    // Only now is a ring certain to be heard: look once more at everything that rings.
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
  // release: whatever was sent before is seen by the server that sees the flag; partner: the acquire in run().
  stopping_.store(true, std::memory_order_release);
  doorbell_.ring();
}

// Takes what is in the ring and moves the sink on. Returns whether it took anything or could take more at once: the
// sink may have made room while it moved on, and nobody rings for that.
bool ServeLoop::work(RequestSink& sink) {
  bool took = false;
  Descriptor descriptor;
  while (sink.ready() && channel_.ring.pop(descriptor)) {
    sink.accept(descriptor);
    took = true;
  }
  sink.progress();
  if (took) channel_.client_bell.ring();  // there is room in the ring again
  return took || (sink.ready() && !channel_.ring.empty());
}

}  // namespace tailrace::impl
