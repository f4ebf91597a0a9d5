#include "format/image/alike.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <string>

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

// Compares numbers by their bits, as they are written.
bool same_bits(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) { return same_bits(x, y); });
}

bool is_alike(const FindingValue& a, const FindingValue& b) {
  if (a.index() != b.index()) return false;
  if (const auto* number = std::get_if<double>(&a)) return same_bits(*number, std::get<double>(b));
  if (const auto* numbers = std::get_if<std::vector<double>>(&a)) {
    return same_bits(*numbers, std::get<std::vector<double>>(b));
  }
  return a == b;
}

bool is_alike(const IterationPlan::Noted& a, const IterationPlan::Noted& b) {
  return impl::same_bits(a.value, b.value);
}

bool is_alike(const Loss& a, const Loss& b) {
  return same_bits(a.largest_error, b.largest_error) &&
         same_bits(a.largest_relative_error, b.largest_relative_error) && a.overflowed == b.overflowed;
}

bool is_alike(const PlacedChunk& a, const PlacedChunk& b) {
  return a.extent.offset == b.extent.offset && a.extent.length == b.extent.length && a.skipped == b.skipped &&
         a.effort == b.effort;
}

// Blocks of a shared dataset differ in their places, but share the whole array.
bool is_alike(const Layout& a, const Layout& b, bool shared) {
  if (&a == &b) return true;
  return a.type == b.type && a.global_shape == b.global_shape &&
         (shared || (a.shape == b.shape && a.offset == b.offset)) && a.axes == b.axes &&
         same_bits(a.spacing, b.spacing) && same_bits(a.origin, b.origin) &&
         same_bits(a.grid_unit.factor, b.grid_unit.factor) && a.grid_unit.symbol == b.grid_unit.symbol;
}

bool is_alike(const Unit& a, const Unit& b) {
  return a.symbol == b.symbol && same_bits(a.factor, b.factor) &&
         std::equal(a.dimension.begin(), a.dimension.end(), b.dimension.begin(),
                    [](double x, double y) { return same_bits(x, y); });
}

bool is_alike(const Record& a, const Record& b) {
  return a.of_particles == b.of_particles && a.vector == b.vector && a.macro_weighted == b.macro_weighted &&
         same_bits(a.weighting_power, b.weighting_power) && same_bits(a.position, b.position);
}

bool is_alike(const std::optional<Number>& a, const std::optional<Number>& b) {
  if (!a || !b) return !a && !b;
  if (a->is_real() != b->is_real()) return false;
  return a->is_real() ? same_bits(a->real(), b->real()) : a->whole() == b->whole();
}

// Compares what does not depend on the variables and on chunks.
bool is_alike_outside(const IterationPlan::Dataset& a, const IterationPlan::Dataset& b) {
  return a.in_chunks == b.in_chunks && a.shared == b.shared && a.stored.extent.length == b.stored.extent.length &&
         a.stored.shape == b.stored.shape && a.stored.blocks == b.stored.blocks &&
         is_alike(*a.block, *b.block, a.shared);
}

bool is_alike(const IterationPlan::Dataset& a, const IterationPlan::Dataset& b) {
  const auto same_chunk = [](const PlacedChunk& x, const PlacedChunk& y) { return is_alike(x, y); };
  const std::vector<PlacedChunk>& chunks = a.stored.chunks;
  const std::vector<PlacedChunk>& others = b.stored.chunks;
  return a.variable == b.variable && is_alike_outside(a, b) && is_alike(a.loss, b.loss) &&
         std::equal(chunks.begin(), chunks.end(), others.begin(), others.end(), same_chunk);
}

// Compares what headers have of two variables.
bool have_same_header(const Variable& a, const Variable& b) {
  const auto same = [](const Attribute& x, const Attribute& y) {
    return x.first == y.first && impl::same_bits(x.second, y.second);
  };
  return a.description == b.description && is_alike(a.unit, b.unit) && is_alike(a.record, b.record) &&
         is_alike(a.fill_value, b.fill_value) &&
         std::equal(a.attributes.begin(), a.attributes.end(), b.attributes.begin(), b.attributes.end(), same);
}

template <class T>
bool is_alike(const std::map<std::string, T>& a, const std::map<std::string, T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first && is_alike(x.second, y.second); });
}

// Returns what the program has set of a dataset.
const IterationPlan::Attributes& attributes_of(const IterationPlan& plan, const std::string& dataset) {
  static const IterationPlan::Attributes kNone;
  const auto found = plan.dataset_attributes().find(dataset);
  return found == plan.dataset_attributes().end() ? kNone : found->second;
}

bool is_alike_but_for_datasets(const IterationPlan& a, const IterationPlan& b) {
  return a.events() == b.events() && a.events_not_listed() == b.events_not_listed() && a.missing() == b.missing() &&
         a.missing_unnamed() == b.missing_unnamed() && a.patches() == b.patches() &&
         is_alike(a.attributes(), b.attributes()) &&
         // Attributes of datasets without blocks are in no file, but then the iterations seldom are alike.
         is_alike(a.dataset_attributes(), b.dataset_attributes()) && is_alike(a.findings(), b.findings());
}

}  // namespace

std::optional<std::vector<Move>> moves_between(const IterationPlan& before, const IterationPlan& now) {
  if (!is_alike_but_for_datasets(before, now) || before.datasets().size() != now.datasets().size()) return {};
  std::vector<Move> moves;
  size_t number = 0;
  auto earlier = before.datasets().begin();
  for (const auto& [name, dataset] : now.datasets()) {
    if (earlier->first != name || !is_alike(earlier->second, dataset)) return {};
    const Move move{number++, earlier->second.stored.extent.offset, dataset.stored.extent.offset};
    if (move.from != move.to) moves.push_back(move);
    ++earlier;
  }
  return moves;
}

bool have_same_header(const Config& config, const IterationPlan& plan, const NamedDataset& a, const NamedDataset& b) {
  TAILRACE_REQUIRE(!a.second.in_chunks && !b.second.in_chunks);
  return is_alike_outside(a.second, b.second) &&
         have_same_header(config.variables[a.second.variable], config.variables[b.second.variable]) &&
         is_alike(attributes_of(plan, a.first), attributes_of(plan, b.first));
}

}  // namespace tailrace::impl
