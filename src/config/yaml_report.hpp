// YamlReport: records what is wrong with a configuration file, in the form that all its messages have:
// "FILE:LINE:COLUMN: KEY.PATH: found X, expected Y; hint".
//
// The readers of the configuration report here and continue with harmless values. Only the first fault is reported,
// as later ones may be its consequences.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace tailrace::impl {

// A position in the file; both numbers count from 1.
struct YamlPlace {
  int line = 1;
  int column = 1;
};

class YamlReport {
 public:
  explicit YamlReport(std::string file) : file_(std::move(file)) {}

  struct Fault {
    std::string found;
    std::string expected;
    std::string hint{};  // may be empty
  };

  void fault(YamlPlace place, const std::string& path, const Fault& fault);

  bool ok() const { return status_.ok(); }
  // Returns the first fault, as TAILRACE_INVALID_CONFIG; OK if there was none.
  const Status& status() const { return status_; }

 private:
  const std::string file_;
  Status status_;
};

// Returns at most `most` bytes of `text`, printable, for a message: UTF-8 with all other bytes escaped, so that
// terminals and Python can show it.
std::string printable(std::string_view text, size_t most = 48);
// Returns true if all of `text` is UTF-8.
bool is_utf8(std::string_view text);
// Returns the text in quotes, without control characters.
std::string in_quotes(std::string_view text);

// Returns the words as a list: "a, b or c".
std::string one_of(const std::vector<std::string_view>& words);

}  // namespace tailrace::impl
