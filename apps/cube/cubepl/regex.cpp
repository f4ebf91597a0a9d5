#include "cube/cubepl/regex.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "cube/archive/error.hpp"

namespace tailrace::cube {
namespace {

// One for each thread: matching writes to it.
struct MatchData {
  MatchData() : data(pcre2_match_data_create(1, nullptr)) {}
  ~MatchData() { pcre2_match_data_free(data); }
  MatchData(const MatchData&) = delete;
  MatchData& operator=(const MatchData&) = delete;

  pcre2_match_data* const data;
};

PCRE2_SPTR letters(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

}  // namespace

void Regex::Free::operator()(pcre2_real_code_8* code) const { pcre2_code_free(code); }

Regex::Regex(const std::string& pattern) {
  int reason = 0;
  PCRE2_SIZE place = 0;
  code_.reset(pcre2_compile(letters(pattern), pattern.size(), 0, &reason, &place, nullptr));
  if (!code_) {
    PCRE2_UCHAR message[200];
    pcre2_get_error_message(reason, message, sizeof message);
    throw Error("regular expression /" + pattern + "/: " + reinterpret_cast<const char*>(message) + ", at letter " +
                std::to_string(place + 1));
  }
  pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE);  // without it, matching is slower
}

// A pattern may take exponential time, which the library ends by an error: that is no match.
bool Regex::matches(std::string_view text) const {
  thread_local const MatchData match;
  if (text.data() == nullptr) text = "";
  return pcre2_match(code_.get(), letters(text), text.size(), 0, 0, match.data, nullptr) >= 0;
}

}  // namespace tailrace::cube
