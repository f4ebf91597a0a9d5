#include "command/output/output.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "base/names/utf8.hpp"

namespace tailrace::impl {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";
constexpr size_t kGap = 2;  // between columns

void print_line(std::FILE* to, std::string_view line) {
  const std::string text = printable_line(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), to);
}

bool begins_character(char byte) { return (static_cast<uint8_t>(byte) & 0xc0) != 0x80; }

void print_columns(const std::vector<Row>& rows, const std::vector<size_t>& widths,
                   const std::vector<size_t>& columns, bool ruled) {
  for (size_t number = 0; number < rows.size(); ++number) {
    std::string line;
    for (const size_t column : columns) {
      const std::string& cell = rows[number][column];
      line += cell + std::string(widths[column] - width_of(cell) + kGap, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    say(line);
    if (!ruled || number > 0) continue;
    std::string rule;
    for (size_t column = 0; column < columns.size(); ++column) {
      for (size_t at = 0; at < widths[columns[column]] + (column + 1 < columns.size() ? kGap : 0); ++at) rule += "─";
    }
    say(rule);
  }
}

// Formats three significant digits, without an exponent and without zeros at the end.
std::string digits(double value) {
  const double size = std::abs(value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  std::string text = size >= 9.995    ? fmt::format("{:.1f}", value)
                     : size >= 0.9995 ? fmt::format("{:.2f}", value)
                                      : fmt::format("{:.3g}", value);
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string beginning(std::string_view text, size_t most) {
  size_t end = 0;
  for (size_t width = 0; end < text.size(); ++end) {
    if (begins_character(text[end]) && ++width > most) break;
  }
  return std::string(text.substr(0, end));
}

size_t terminal_width(int descriptor) {
  if (isatty(descriptor) == 0) return 0;
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string printable_line(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Utf8Character first = first_character(text);
    const size_t bytes = std::max<size_t>(1, first.bytes);
    // U+2028 and U+2029 end lines, and U+202A to U+202E and U+2066 to U+2069 reverse what follows.
    const bool turns =
        (first.code >= 0x2028 && first.code <= 0x202e) || (first.code >= 0x2066 && first.code <= 0x2069);
    const bool fit = first.bytes > 0 && !first.is_control() && !turns;
    result += fit ? text.substr(0, bytes) : kReplacement;
    text.remove_prefix(bytes);
  }
  return result;
}

void say(std::string_view line) { print_line(stdout, line); }

void complain_of(std::string_view line) {
  std::fflush(stdout);
  print_line(stderr, line);
}

void complain(std::string_view message) {
  std::string_view rest = message;
  for (bool first = true; first || !rest.empty(); first = false) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    complain_of((first ? "tailrace: " : "") + std::string(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

void print_table(const Row& titles, std::vector<Row> rows) {
  rows.insert(rows.begin(), titles);
  std::vector<size_t> widths(titles.size(), 0);
  for (Row& row : rows) {
    for (size_t column = 0; column < titles.size(); ++column) {
      row[column] = printable_line(row[column]);
      widths[column] = std::max(widths[column], width_of(row[column]));
    }
  }
  const size_t limit = terminal_width(STDOUT_FILENO);
  std::vector<size_t> columns;
  size_t taken = 0;
  for (size_t column = 0; column < titles.size(); ++column) {
    if (limit > 0 && columns.size() > 1 && taken + widths[column] > limit) {
      print_columns(rows, widths, columns, true);
      columns = {0};
      taken = widths[0] + kGap;
    }
    columns.push_back(column);
    taken += widths[column] + kGap;
  }
  print_columns(rows, widths, columns, limit > 0);
}

std::string size_text(double bytes) {
  for (const char* unit : {"B", "KiB", "MiB", "GiB"}) {
    if (std::abs(bytes) < 1024) return fmt::format("{} {}", digits(bytes), unit);
    bytes /= 1024;
  }
  return fmt::format("{} TiB", digits(bytes));
}

std::string time_text(double seconds) {
  const double size = std::abs(seconds);
  if (size >= 119.5 && size < 1e15) {
    const auto whole = std::llrint(size);
    std::string text = seconds < 0 ? "-" : "";
    for (const auto& [value, unit] :
         {std::pair(whole / 3600, "h"), std::pair(whole % 3600 / 60, "min"), std::pair(whole % 60, "s")}) {
      if (value != 0) text += fmt::format("{}{} {}", text.size() > 1 ? " " : "", value, unit);
    }
    return text;
  }
  for (const auto& [unit, factor] : {std::pair("s", 1.0), std::pair("ms", 1e-3), std::pair("µs", 1e-6)}) {
    if (size >= 0.9995 * factor) return fmt::format("{} {}", digits(seconds / factor), unit);
  }
  return size >= 5e-13 ? fmt::format("{} ns", digits(seconds / 1e-9)) : "0 s";
}

}  // namespace tailrace::impl
