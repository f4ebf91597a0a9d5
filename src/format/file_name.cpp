#include "format/file_name.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/names/name_template.hpp"

namespace tailrace::impl {
namespace {

constexpr std::string_view kEnd = ".h5";

constexpr std::string_view kXdmfEnd = ".xmf";

// Reads the whole text as the number of an iteration.
std::optional<int64_t> to_number(std::string_view digits) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool all = !digits.empty() && end == digits.data() + digits.size();
  return all && error == std::errc{} && digits.front() != '-' ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string pattern_of(const Config& config, int client) {
  return with_number(with_number(config.format.file, kClientField, client), kNodeField, config.place.node);
}

std::string file_name_of(const Config& config, int client, int64_t iteration) {
  if (config.format.kind != FormatKind::plain) {
    const auto each = static_cast<int64_t>(config.storage.iterations_per_file);
    const int64_t first = each == 0 ? 0 : iteration / each * each;
    return fmt::format("{}_{:06}{}", series_of(config, client), first, kEnd);
  }
  std::string name = pattern_of(config, client);
  return name.replace(name.find(kIterationField), kIterationField.size(), std::to_string(iteration));
}

std::string xdmf_name_of(const std::string& name) {
  const size_t stem = name.size() - (name.ends_with(kEnd) ? kEnd.size() : 0);
  return name.substr(0, stem).append(kXdmfEnd);
}

std::optional<int64_t> iteration_in(std::string_view pattern, std::string_view name) {
  const size_t at = pattern.find(kIterationField);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view before = pattern.substr(0, at);
  const std::string_view after = pattern.substr(at + kIterationField.size());
  if (name.size() <= before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after)) return {};
  return to_number(name.substr(before.size(), name.size() - before.size() - after.size()));
}

bool is_xdmf_of(std::string_view pattern, std::string_view name) {
  return iteration_in(xdmf_name_of(std::string(pattern)), name).has_value();
}

std::optional<int64_t> iteration_of(const Config& config, int client, std::string_view name) {
  if (config.format.kind == FormatKind::plain) return iteration_in(pattern_of(config, client), name);
  constexpr size_t kDigits = 6;  // at least
  const std::string pattern = fmt::format("{}_{}{}", series_of(config, client), kIterationField, kEnd);
  const bool is_long = name.size() + kIterationField.size() >= pattern.size() + kDigits;
  return is_long ? iteration_in(pattern, name) : std::nullopt;
}

}  // namespace tailrace::impl
