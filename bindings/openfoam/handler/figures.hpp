// Figures: what the output of a process cost, as a trace, and together with that of other processes as a table.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "openfoam/output/writer.hpp"

namespace tailrace::openfoam {

// Costs of the output of one process, or of several.
struct OutputCosts {
  struct Object {
    uint64_t files = 0;
    uint64_t bytes = 0;
    double program = 0;  // seconds of the program's thread
    double writer = 0;   // seconds of the writer's thread
    double shield = -1;  // the shortest potential shield time, in seconds; -1: it was written once
  };
  std::map<std::string, Object> objects;
  double waiting = 0;  // seconds that the program waited

  // Adds another process: files and bytes are summed, and times are those of the slowest process.
  void add(const OutputCosts& other);
  // Returns all as text, which read() takes apart.
  std::string text() const;
  static OutputCosts read(const std::string& text);
  // Returns the lines of a table. OT, the output time, is the time of both threads; AT, the additional time, is that
  // of the program's. The overlap is (OT - AT) / OT (MHPC thesis on AP-IO, Stuttgart 2020, equation 1).
  std::string table() const;
};

// Measures the program's thread; the writer's thread is measured by the writer. One thread at a time calls.
class Figures {
 public:
  // Notes that the program has handed an object over, in the output of that number. Seconds, by the clock of now().
  void add(const std::string& object, int64_t output, double begun, double handed_over);

  // Returns what the objects cost that were written.
  OutputCosts costs(Writer& writer) const;
  // Returns a trace in the format of tailrace's own (docs/formats), for `tailrace plot`, `report` and `predict`.
  std::string trace(const std::vector<FileTimes>& files, uint64_t process) const;

 private:
  struct Object {
    double seconds = 0;         // of the program's thread
    double handed_over_at = 0;  // the latest time
    double shield = -1;         // the shortest potential shield time; -1: it was written once
  };
  struct HandOver {
    std::string object;
    int64_t output;
    double begun;
    double ended;
  };

  std::map<std::string, Object> objects_;
  std::vector<HandOver> hand_overs_;  // the first ones
  uint64_t dropped_ = 0;              // of these
};

}  // namespace tailrace::openfoam
