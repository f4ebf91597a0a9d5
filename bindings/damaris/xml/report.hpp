// Report: everything that a description in XML has that is wrong (errors) or without effect (warnings), with its
// line.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tailrace::damaris {

// Thrown with all errors of a file, one a line.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Problem {
  bool fatal = false;
  size_t line = 0;
  std::string text;  // without file and line
};

class Report {
 public:
  explicit Report(std::string file) : file_(std::move(file)) {}

  const std::string& file() const { return file_; }
  const std::vector<Problem>& problems() const { return problems_; }
  bool ok() const { return errors_ == 0; }

  void warn(size_t line, std::string text);
  // `where` is the element or attribute. `hint` may be empty.
  void wrong(size_t line, const std::string& where, const std::string& found, const std::string& expected,
             const std::string& hint = {});

  // Returns "FILE:LINE: …" for each problem: the errors alone, or all.
  std::vector<std::string> errors() const { return lines(true); }
  std::vector<std::string> warnings() const { return lines(false); }
  // Throws Error if there are errors.
  void check() const;

 private:
  std::vector<std::string> lines(bool fatal) const;

  const std::string file_;
  std::vector<Problem> problems_;
  size_t errors_ = 0;
};

// Returns the text in quotes, without control characters, and cut if it is very long.
std::string in_quotes(std::string_view text);

// Returns "did you mean 'x'?", or nothing if no known word is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known);

// Returns "a, b or c".
std::string one_of(const std::vector<std::string_view>& words);

}  // namespace tailrace::damaris
