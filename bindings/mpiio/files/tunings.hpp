// Tunings: what trials (Tuning) have shown of patterns of collective writes, in this process and in earlier programs.
// A profile keeps it, also if a program ends before its trials.
//
// The profile is a text file with a line for each pattern: its description, a tab, the best options for people, a
// tab, and for each way its number, tries, and least time in seconds. It is replaced as a whole, so a reader never
// sees half of it. Before, it is read again, to keep what others have written of other patterns; of two programs that
// write at one time, one wins. A file that tailrace has not written, or a pipe or a device, stays as it is.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "collective/tune/tuning.hpp"

namespace tailrace::mpiio {

class Tunings {
 public:
  static Tunings& instance();

  // Returns what is known of the pattern, which is a line of text. The first call reads the profile. Any thread.
  collective::Tuning::State find(const std::string& pattern);
  // Keeps what is known now; after a trial, also in the profile. Any thread.
  void keep(const std::string& pattern, const collective::Tuning& tuning);

 private:
  struct Known {
    collective::Tuning::State state;
    std::string best;
  };

  void read();
  void write();

  std::mutex mutex_;  // guards all below
  bool is_read_ = false;
  bool is_other_ = false;        // the profile is no file of tailrace's
  bool has_complained_ = false;  // that it cannot write
  std::map<std::string, Known> known_;
};

}  // namespace tailrace::mpiio
