#include "damaris/xml/report.hpp"

#include <utility>

#include "base/names/nearest_word.hpp"

namespace tailrace::damaris {
namespace {

constexpr size_t kMostProblems = 200;  // a file that has more is no description
constexpr size_t kLongest = 120;

}  // namespace

void Report::warn(size_t line, std::string text) {
  if (problems_.size() < kMostProblems) problems_.push_back({false, line, std::move(text)});
}

void Report::wrong(size_t line, const std::string& where, const std::string& found, const std::string& expected,
                   const std::string& hint) {
  ++errors_;
  if (problems_.size() >= kMostProblems) return;
  const std::string text = where + ": found " + found + ", expected " + expected + (hint.empty() ? "" : "; " + hint);
  problems_.push_back({true, line, text});
}

std::vector<std::string> Report::lines(bool fatal) const {
  std::vector<std::string> result;
  for (const Problem& problem : problems_) {
    if (problem.fatal != fatal) continue;
    result.push_back(file_ + ":" + std::to_string(problem.line) + ": " + problem.text);
  }
  return result;
}

void Report::check() const {
  if (ok()) return;
  std::string text;
  for (const std::string& line : errors()) text += (text.empty() ? "" : "\n") + line;
  throw Error(text.empty() ? file_ + ": too many problems" : text);
}

std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text.substr(0, kLongest)) result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  return result + (text.size() > kLongest ? "…'" : "'");
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known) {
  const std::string nearest = impl::nearest_word(word, known);
  return nearest.empty() ? "" : "did you mean '" + nearest + "'?";
}

std::string one_of(const std::vector<std::string_view>& words) {
  std::string result;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) result += i + 1 == words.size() ? " or " : ", ";
    result += words[i];
  }
  return result;
}

}  // namespace tailrace::damaris
