// YamlReport: records what is wrong with a configuration file, in the form that all its messages have:
// "FILE:LINE:COLUMN: KEY.PATH: found X, expected Y; hint".
//
// The readers of the configuration report here and continue with harmless values, so that one reading finds all
// mistakes. Of each key it keeps the first. A reader that compares values asks first whether they are right
// (`doubts`): a mistake must not make others that are none.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.hpp"

namespace tailrace::impl {

// A position in the file; both numbers count from 1.
struct YamlPlace {
  int line = 1;
  int column = 1;
};

// One mistake in a configuration.
struct Mistake {
  std::string file;
  int line = 1;
  int column = 1;
  std::string key;  // its path; empty for the whole file
  std::string found;
  std::string expected;
  std::string hint;     // may be empty
  std::string message;  // all of that
};

class YamlReport {
 public:
  static constexpr size_t most_mistakes = 100;

  explicit YamlReport(std::string file) : file_(std::move(file)) {}

  struct Fault {
    std::string found;
    std::string expected;
    std::string hint{};  // may be empty
  };

  // Records a mistake, unless one of this key is recorded, or there are `most_mistakes`.
  void fault(YamlPlace place, const std::string& path, const Fault& fault);
  // Treats the key as wrong without a mistake of its own: another key is probably this one, mistyped, or its value
  // depends on a wrong one.
  void doubt(const std::string& path) { wrong_.insert(path); }

  bool ok() const { return mistakes_.empty(); }
  // Returns true if no more mistakes are recorded.
  bool full() const { return mistakes_.size() >= most_mistakes; }
  // Returns true if the value of this very key is wrong.
  bool is_wrong(const std::string& path) const { return wrong_.count(path) > 0; }
  // Returns true if the key's value, a part of it, or what it is a part of is wrong; or if that would not be
  // recorded.
  bool doubts(const std::string& path) const;

  // Returns the mistakes in the order of the file.
  std::vector<Mistake> mistakes() const;
  // Returns the first mistake and how many more there are, as TAILRACE_INVALID_CONFIG; OK if there is none.
  Status status() const;

 private:
  const std::string file_;
  std::vector<Mistake> mistakes_;
  std::set<std::string> wrong_;                                 // paths
  std::set<std::pair<std::pair<int, int>, std::string>> told_;  // place and last part of the path
};

// Returns at most `most` bytes of `text`, printable, for a message: UTF-8 with all other bytes escaped, so that
// terminals and Python can show it.
std::string printable(std::string_view text, size_t most = 48);
// Returns the text in quotes, without control characters.
std::string in_quotes(std::string_view text);

// Returns the words as a list: "a, b or c".
std::string one_of(const std::vector<std::string_view>& words);

}  // namespace tailrace::impl
