#include "command/output/source_excerpt.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <wchar.h>

#include <algorithm>

#include "base/names/utf8.hpp"
#include "command/output/output.hpp"

namespace tailrace::impl {
namespace {

constexpr size_t kWidest = 100;  // characters of a line; of a longer one the surroundings of the place are shown
constexpr size_t kBefore = 60;

// Returns line number `line`, which counts from 1, without its end; false if there is none.
bool find_line(std::string_view text, int line, std::string_view& found) {
  for (int number = 1; number < line; ++number) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
  found = text.substr(0, text.find('\n'));
  return line >= 1;
}

// Returns the characters of a part of a line, as a terminal can show them.
std::vector<std::string> characters_of(std::string_view part) {
  while (part.ends_with('\r')) part.remove_suffix(1);
  std::vector<std::string> characters;
  while (!part.empty()) {
    const size_t bytes = std::max<size_t>(1, first_character(part).bytes);
    characters.push_back(part[0] == '\t' ? " " : printable_line(part.substr(0, bytes)));
    part.remove_prefix(bytes);
  }
  return characters;
}

// Returns the number of cells that the characters take on a terminal.
size_t cells_of(const std::vector<std::string>& characters) {
  size_t cells = 0;
  for (const std::string& one : characters) {
    const int width = wcwidth(static_cast<wchar_t>(first_character(one).code));
    cells += width < 0 ? 1 : static_cast<size_t>(width);
  }
  return cells;
}

}  // namespace

std::vector<std::string> source_excerpt(std::string_view text, int line, int column, std::string_view hint) {
  std::string_view found;
  if (!find_line(text, line, found)) {
    return hint.empty() ? std::vector<std::string>() : std::vector<std::string>{fmt::format("  = {}", hint)};
  }
  const size_t at = std::min(found.size(), static_cast<size_t>(std::max(1, column) - 1));
  std::vector<std::string> before = characters_of(found.substr(0, at));
  const std::vector<std::string> after = characters_of(found.substr(at));
  const bool cut = before.size() > kBefore;
  if (cut) {
    before.erase(before.begin(), before.end() - kBefore);
    before.insert(before.begin(), "…");
  }
  std::string shown = fmt::format("{}", fmt::join(before, ""));
  for (size_t number = 0; number < after.size() && before.size() + number < kWidest; ++number) shown += after[number];
  if (before.size() + after.size() > kWidest) shown += "…";
  shown.erase(shown.find_last_not_of(' ') + 1);
  const std::string number = fmt::format("{:>4}", line);
  const std::string margin(number.size(), ' ');
  std::vector<std::string> lines = {fmt::format("{} |{}{}", number, shown.empty() ? "" : " ", shown),
                                    fmt::format("{} | {}^", margin, std::string(cells_of(before), ' '))};
  if (!hint.empty()) lines.push_back(fmt::format("{} = {}", margin, hint));
  return lines;
}

}  // namespace tailrace::impl
