// ObjectTimes: what the program's thread measures of each object that it writes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

namespace tailrace::openfoam {

// Times of one object, such as the field U, in seconds.
struct ObjectTime {
  uint64_t writes = 0;
  double handing_over = 0;     // the program's thread, with waiting
  double handed_over_at = 0;   // the latest time
  double shortest_shield = 0;  // potential shield time: from a hand-over to the beginning of the next write
  uint64_t shields = 0;
};

class ObjectTimes {
 public:
  void add(const std::string& object, double begun, double handed_over) {
    ObjectTime& time = all_[object];
    if (time.writes > 0) {
      const double shield = begun - time.handed_over_at;
      time.shortest_shield = time.shields == 0 ? shield : std::min(time.shortest_shield, shield);
      ++time.shields;
    }
    ++time.writes;
    time.handing_over += handed_over - begun;
    time.handed_over_at = handed_over;
  }
  const std::map<std::string, ObjectTime>& all() const { return all_; }

 private:
  std::map<std::string, ObjectTime> all_;  // by the object's name
};

}  // namespace tailrace::openfoam
