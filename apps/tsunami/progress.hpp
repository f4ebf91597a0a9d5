// Progress: a bar on stderr, for a user at a terminal.
//
// Redrawn at most ten times a second. Draws nothing if stderr is no terminal, unless requested.
#pragma once

#include <string>

#include "timeline.hpp"

namespace tsunami {

class Progress {
 public:
  Progress(bool wanted, bool quiet, long steps, std::string label);
  void show(long step);
  void finish();

 private:
  void draw(long step) const;

  const bool on_;
  const long steps_;
  const std::string label_;
  Stopwatch watch_;
  double drawn_ = -1;
};

}  // namespace tsunami
