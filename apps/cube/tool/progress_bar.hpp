// ProgressBar: how much is done, on a terminal.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace tailrace::cube {

// One thread at a time uses it. It shows nothing if stderr is no terminal.
class ProgressBar {
 public:
  explicit ProgressBar(std::string what) : what_(std::move(what)), shown_(isatty(STDERR_FILENO) != 0) {}
  ~ProgressBar() {
    // Spaces, since notebooks know carriage returns, but no escape sequences.
    if (drawn_) std::fprintf(stderr, "\r%*s\r", longest_, "");
  }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(uint64_t done, uint64_t all) {
    const auto now = std::chrono::steady_clock::now();
    if (!shown_ || all == 0 || now - latest_ < std::chrono::milliseconds(100)) return;
    latest_ = now;
    drawn_ = true;
    constexpr size_t kWidth = 30;
    const auto full =
        static_cast<size_t>(static_cast<double>(kWidth) * static_cast<double>(done) / static_cast<double>(all));
    const std::string bar = std::string(full, '#') + std::string(kWidth - full, '.');
    const int length = std::fprintf(stderr, "\r%s [%s] %3.0f %%  %.1f of %.1f MiB", what_.c_str(), bar.c_str(),
                                    100.0 * static_cast<double>(done) / static_cast<double>(all),
                                    static_cast<double>(done) / (1 << 20), static_cast<double>(all) / (1 << 20));
    longest_ = std::max(longest_, length);
  }

 private:
  const std::string what_;
  const bool shown_;
  bool drawn_ = false;
  int longest_ = 0;
  std::chrono::steady_clock::time_point latest_{};
};

}  // namespace tailrace::cube
