#include "config/yaml_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace tailrace::impl {
namespace {

// The bytes of the character that `text`, which is not empty, begins with; 0 if it is a control character or not
// UTF-8 (RFC 3629).
size_t character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  const uint32_t first = byte(0);
  if (first < 0x80) return first < 0x20 || first == 0x7f ? 0 : 1;
  const size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length == 0 || length > text.size()) return 0;
  uint32_t code = first & (0x7fU >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t least[] = {0, 0, 0xa0, 0x800, 0x10000};  // below 0xa0 are control characters
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code < least[length] || code > 0x10ffff || surrogate ? 0 : length;
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
    const size_t length = character(text.substr(at));
    if (at + std::max<size_t>(length, 1) > most) break;
    if (length == 0) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at++]));
      continue;
    }
    result += text.substr(at, length);
    at += length;
  }
  return at < text.size() ? result + "…" : result;
}

std::string quoted(std::string_view text) { return fmt::format("'{}'", printable(text)); }

std::string one_of(const std::vector<std::string_view>& words) {
  std::string result;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) result += i + 1 == words.size() ? " or " : ", ";
    result += words[i];
  }
  return result;
}

}  // namespace tailrace::impl
