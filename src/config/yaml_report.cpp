#include "config/yaml_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace tailrace::impl {
namespace {

struct Character {
  size_t bytes = 0;  // 0: the text does not begin with a character in UTF-8
  uint32_t code = 0;

  bool is_control() const { return code < 0x20 || (code >= 0x7f && code < 0xa0); }
};

// Returns the character at the beginning of `text`, which is not empty (RFC 3629).
Character first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  const uint32_t first = byte(0);
  if (first < 0x80) return {1, first};
  const size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length == 0 || length > text.size()) return {};
  uint32_t code = first & (0x7fU >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (code < least[length] || code > 0x10ffff || surrogate) return {};
  return {length, code};
}

}  // namespace

void YamlReport::fault(YamlPlace place, const std::string& path, const Fault& fault) {
  if (!ok()) return;
  tailrace::impl::Fault out;
  out.code = TAILRACE_INVALID_CONFIG;
  out.operation = "configure";
  out.file = file_;
  out.message = fmt::format("{}:{}:{}: {}: found {}, expected {}", file_, place.line, place.column,
                            path.empty() ? "(top level)" : path, fault.found, fault.expected);
  if (!fault.hint.empty()) out.message += "; " + fault.hint;
  status_ = Status(std::move(out));
}

std::string printable(std::string_view text, size_t most) {
  std::string result;
  size_t at = 0;
  while (at < text.size()) {
    const Character next = first_character(text.substr(at));
    if (at + std::max<size_t>(next.bytes, 1) > most) break;
    const bool shown = next.bytes > 0 && !next.is_control();
    if (!shown) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at++]));
      continue;
    }
    result += text.substr(at, next.bytes);
    at += next.bytes;
  }
  return at < text.size() ? result + "…" : result;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Character next = first_character(text);
    if (next.bytes == 0) return false;
    text.remove_prefix(next.bytes);
  }
  return true;
}

std::string in_quotes(std::string_view text) { return fmt::format("'{}'", printable(text)); }

std::string one_of(const std::vector<std::string_view>& words) {
  constexpr size_t most = 32;  // more would not be read
  std::string result;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i == most) return fmt::format("{} or one of {} more", result, words.size() - most);
    if (i > 0) result += i + 1 == words.size() ? " or " : ", ";
    result += words[i];
  }
  return result;
}

}  // namespace tailrace::impl
