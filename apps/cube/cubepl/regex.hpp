// Regex: a regular expression of CubePL, which has Perl's syntax.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct pcre2_real_code_8;

namespace tailrace::cube {

// Any thread may use it.
class Regex {
 public:
  // Throws Error with the reason and the place in the pattern.
  explicit Regex(const std::string& pattern);

  bool matches(std::string_view text) const;  // somewhere in the text

 private:
  struct Free {
    void operator()(pcre2_real_code_8* code) const;
  };
  std::unique_ptr<pcre2_real_code_8, Free> code_;
};

}  // namespace tailrace::cube
