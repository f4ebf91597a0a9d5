// Progress: one line on stderr for a user at a terminal, redrawn at most ten times a second.
#pragma once

#include <chrono>
#include <optional>

namespace texture {

class Progress {
 public:
  // Draws if stderr is a terminal or `wanted`; never in a rank other than 0.
  Progress(bool wanted, int rank, long planes);
  void show(long done);
  // Ends the line.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  const bool on_;
  const long planes_;
  const Clock::time_point start_ = Clock::now();
  std::optional<Clock::time_point> drawn_;
};

}  // namespace texture
