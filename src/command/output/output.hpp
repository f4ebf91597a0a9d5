// The output of the command `tailrace`: lines and tables for people, JSON for programs.
//
// Names and texts may come from files that others made, so all that goes to people passes printable_line(): no byte
// of theirs can command a terminal. Decides nothing about the content.
#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tailrace::impl {

// Keeps the order of its members, as people read them.
using OrderedJson = nlohmann::ordered_json;

// Exit codes of all commands.
constexpr int kSuccess = 0;
constexpr int kFailure = 1;
constexpr int kWrongUsage = 2;

// Returns the text with U+FFFD in place of each control character, and of each byte that is no UTF-8.
std::string printable_line(std::string_view text);

// Returns the number of characters in a printable text.
size_t width_of(std::string_view text);
// Returns the first `most` characters of a printable text.
std::string beginning(std::string_view text, size_t most);
// Returns the width of the terminal to which a descriptor leads; 0 if it leads elsewhere.
size_t terminal_width(int descriptor);

// Prints one line.
void say(std::string_view line);
// Prints a line on an error in a file, on stderr: as compilers do, it begins with the file and not with `tailrace`.
void complain_of(std::string_view line);
// Prints one or more lines on an error, on stderr.
void complain(std::string_view message);
// Prints one JSON document.
template <class Json>
void print_json(const Json& json) {
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
}

using Row = std::vector<std::string>;

// Prints a table as plain aligned text, a line for each row, for `grep` and `awk`. On a terminal it has a rule below
// the titles, and a table that is too wide is printed in parts, each with the first column. REQUIRES: each row is as
// long as `titles`.
void print_table(const Row& titles, std::vector<Row> rows);

// Returns 1536 as "1.5 KiB": at most three significant digits.
std::string size_text(double bytes);
// Returns 0.4 as "400 ms", 2657 as "44 min 17 s".
std::string time_text(double seconds);

}  // namespace tailrace::impl
