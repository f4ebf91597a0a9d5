#include "format/file_name.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/names/name_template.hpp"

namespace tailrace::impl {
namespace {

constexpr std::string_view kEnd = ".h5";

// Returns format.file with all but the iteration filled in.
std::string plain_name(const Config& config, int client) {
  return with_number(with_number(config.format.file, kClientField, client), kNodeField, config.place.node);
}

// Reads the whole text as the number of an iteration.
std::optional<int64_t> to_number(std::string_view digits) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool all = !digits.empty() && end == digits.data() + digits.size();
  return all && error == std::errc{} && digits.front() != '-' ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string file_name_of(const Config& config, int client, int64_t iteration) {
  if (config.format.kind != FormatKind::plain) {
    const auto each = static_cast<int64_t>(config.storage.iterations_per_file);
    const int64_t first = each == 0 ? 0 : iteration / each * each;
    return fmt::format("{}_{:06}{}", series_of(config, client), first, kEnd);
  }
  std::string name = plain_name(config, client);
  return name.replace(name.find(kIterationField), kIterationField.size(), std::to_string(iteration));
}

std::string xdmf_name_of(const std::string& name) {
  const size_t stem = name.size() - (name.ends_with(kEnd) ? kEnd.size() : 0);
  return name.substr(0, stem) + ".xmf";
}

std::optional<int64_t> iteration_of(const Config& config, int client, std::string_view name) {
  const bool plain = config.format.kind == FormatKind::plain;
  std::string before = plain ? plain_name(config, client) : series_of(config, client) + "_";
  std::string after(kEnd);
  if (plain) {
    const size_t at = before.find(kIterationField);
    after = before.substr(at + kIterationField.size());
    before.resize(at);
  }
  if (name.size() < before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after)) return {};
  const std::string_view digits = name.substr(before.size(), name.size() - before.size() - after.size());
  const size_t least = plain ? 1 : 6;
  return digits.size() < least ? std::nullopt : to_number(digits);
}

}  // namespace tailrace::impl
