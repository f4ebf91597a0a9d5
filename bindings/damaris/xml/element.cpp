#include "damaris/xml/element.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace tailrace::damaris {
namespace {

constexpr const char* kSpace = " \t\r\n";

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(kSpace) - begin + 1));
}

std::string_view without_prefix(std::string_view name) {
  const size_t colon = name.find(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

bool contains(const std::vector<std::string_view>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string hint_of(std::string_view word, const std::vector<std::string_view>& known) {
  const std::string hint = did_you_mean(word, known);
  return hint.empty() ? "" : "; " + hint;
}

}  // namespace

Document::Document(std::string_view text, Report& report) : report_(report) {
  if (text.size() > kMostBytes) {
    throw Error(report.file() + ": found " + std::to_string(text.size()) + " bytes, expected at most " +
                std::to_string(kMostBytes));
  }
  for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    line_breaks_.push_back(static_cast<std::ptrdiff_t>(at));
  }
  const pugi::xml_parse_result result = document_.load_buffer(text.data(), text.size());
  if (result) return;
  throw Error(report.file() + ":" + std::to_string(line_at(result.offset)) +
              ": expected XML: " + result.description());
}

Element Document::root() const { return {*this, document_.document_element()}; }

size_t Document::line_at(std::ptrdiff_t offset) const {
  const auto before = std::lower_bound(line_breaks_.begin(), line_breaks_.end(), offset);
  return 1 + static_cast<size_t>(before - line_breaks_.begin());
}

std::string_view Element::name() const { return without_prefix(node_.name()); }

std::string Element::text() const { return trimmed(node_.text().get()); }

std::string Element::title() const {
  std::string result = "<" + std::string(name());
  for (const char* const naming : {"name", "key"}) {
    if (has(naming)) result += std::string(" ") + naming + "=" + in_quotes(node_.attribute(naming).value());
  }
  return result + ">";
}

std::vector<Element> Element::children() const {
  std::vector<Element> result;
  for (const pugi::xml_node child : node_.children()) {
    if (child.type() == pugi::node_element) result.emplace_back(*document_, child);
  }
  return result;
}

Element Element::only_child(std::string_view child) const {
  Element found(*document_, {});
  for (const Element& one : children()) {
    if (one.name() != child) continue;
    if (found.exists()) {
      one.wrong("", "a second <" + std::string(child) + "> in " + title(), "one");
      break;
    }
    found = one;
  }
  return found;
}

void Element::know_attributes(const std::vector<std::string_view>& known) const {
  for (const pugi::xml_attribute attribute : node_.attributes()) {
    const std::string_view full = attribute.name();
    if (full == "comment" || full == "xmlns" || full.find(':') != std::string_view::npos) continue;
    if (contains(known, full)) continue;
    warn("the attribute " + in_quotes(full) + " has no effect" + hint_of(full, known));
  }
}

void Element::know_children(const std::vector<std::string_view>& known) const {
  for (const Element& child : children()) {
    if (contains(known, child.name())) continue;
    child.warn("has no effect in <" + std::string(name()) + ">" + hint_of(child.name(), known));
  }
}

std::string Element::string(const char* attribute, const std::string& otherwise) const {
  return has(attribute) ? trimmed(node_.attribute(attribute).value()) : otherwise;
}

std::string Element::required(const char* attribute) const {
  std::string value = string(attribute);
  if (value.empty()) wrong(attribute, has(attribute) ? "an empty text" : "no such attribute", "a value");
  return value;
}

int64_t Element::integer(const char* attribute, int64_t least, int64_t most, int64_t otherwise) const {
  if (!has(attribute)) return otherwise;
  const std::string text = string(attribute);
  const std::optional<int64_t> value = to_integer(text);
  if (value && *value >= least && *value <= most) return *value;
  wrong(attribute, in_quotes(text), "an integer from " + std::to_string(least) + " to " + std::to_string(most));
  return otherwise;
}

bool Element::flag(const char* attribute, bool otherwise) const {
  if (!has(attribute)) return otherwise;
  const std::string text = string(attribute);
  if (text == "true" || text == "1") return true;
  if (text == "false" || text == "0") return false;
  wrong(attribute, in_quotes(text), "true or false");
  return otherwise;
}

size_t Element::choice(const char* attribute, const std::vector<std::string_view>& words, size_t otherwise) const {
  if (!has(attribute)) return otherwise;
  const std::string text = string(attribute);
  const auto found = std::find(words.begin(), words.end(), text);
  if (found != words.end()) return static_cast<size_t>(found - words.begin());
  wrong(attribute, in_quotes(text), one_of(words), did_you_mean(text, words));
  return otherwise;
}

std::vector<Expression> Element::expressions(const char* attribute) const {
  std::vector<Expression> result;
  for (const std::string& part : split_list(string(attribute), ',')) {
    try {
      result.emplace_back(part);
    } catch (const ExpressionError& error) {
      wrong(attribute, error.what(), "integers, parameters, + - * / % and parentheses");
      return {};
    }
  }
  return result;
}

void Element::wrong(const std::string& attribute, const std::string& found, const std::string& expected,
                    const std::string& hint) const {
  document_->report().wrong(line(), title() + (attribute.empty() ? "" : " " + attribute), found, expected, hint);
}

void Element::warn(const std::string& text) const { document_->report().warn(line(), title() + ": " + text); }

bool is_plain_text(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const size_t length = first < 0x80   ? 1
                          : first < 0xc2 ? 0
                          : first < 0xe0 ? 2
                          : first < 0xf0 ? 3
                          : first < 0xf5 ? 4
                                         : 0;
    if (length == 0 || length > text.size() - i) return false;
    if (length == 1 && (first < ' ' || first == 0x7f || first == '{' || first == '}' || first == '\\')) return false;
    uint32_t code = length == 1 ? first : first & (0xffU >> (length + 1));
    for (size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xc0) != 0x80) return false;
      code = (code << 6) | (next & 0x3fU);
    }
    constexpr uint32_t kLeast[] = {0, 0, 0xa0, 0x800, 0x10000};  // 0x80 to 0x9f are controls
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    if (code < kLeast[length] || code > 0x10ffff || surrogate || code == 0x2028 || code == 0x2029) return false;
    i += length;
  }
  return true;
}

bool is_dataset_path(std::string_view path) {
  constexpr size_t longest = 400;
  if (path.empty() || path.size() > longest || !is_plain_text(path)) return false;
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    if (part.empty() || part == "." || part == "..") return false;
    at = end + 1;
  }
  return true;
}

std::optional<int64_t> to_integer(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> to_real(const std::string& text) {
  double value = 0;
  const std::string_view digits = text.starts_with('+') ? std::string_view(text).substr(1) : text;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace tailrace::damaris
