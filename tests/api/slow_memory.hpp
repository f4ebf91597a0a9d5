// SlowMemory: memory whose first reader is stopped, inside whatever call it makes, until the test lets it go: for
// tests of what happens meanwhile. Only one in a process at a time.
//
// The pages are not readable; the handler of SIGSEGV, on the reader's thread, waits and then makes them readable.
#pragma once

#include <signal.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <thread>

namespace test {

class SlowMemory {
 public:
  explicit SlowMemory(size_t bytes)
      : bytes_(bytes), data_(mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (data_ == MAP_FAILED) std::abort();
    current() = this;
    struct sigaction action {};
    action.sa_sigaction = stand_still;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &before_);
  }
  ~SlowMemory() {
    let_go();
    sigaction(SIGSEGV, &before_, nullptr);
    munmap(data_, bytes_);
    current() = nullptr;
  }
  SlowMemory(const SlowMemory&) = delete;
  SlowMemory& operator=(const SlowMemory&) = delete;

  const void* data() const { return data_; }
  // Waits until a thread reads.
  void wait_for_reader() const {
    while (!reader_stands_) std::this_thread::yield();
  }
  void let_go() { may_go_ = true; }

 private:
  static SlowMemory*& current() {
    static SlowMemory* one = nullptr;
    return one;
  }
  bool has(const void* address) const {
    return address >= data_ && address < static_cast<const char*>(data_) + bytes_;
  }
  static void stand_still(int, siginfo_t* info, void*) {
    SlowMemory* const of = current();
    if (of == nullptr || !of->has(info->si_addr)) std::abort();  // the fault belongs to other code
    of->reader_stands_ = true;
    while (!of->may_go_) std::this_thread::yield();
    mprotect(of->data_, of->bytes_, PROT_READ);
  }

  const size_t bytes_;
  void* const data_;
  struct sigaction before_ {};
  std::atomic<bool> reader_stands_{false};
  std::atomic<bool> may_go_{false};
};

}  // namespace test
