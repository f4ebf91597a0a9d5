// Progress: a bar on stderr, where somebody is looking.
//
// Redrawn at most ten times a second; nothing at all where stderr is no terminal, unless it is asked for.
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
