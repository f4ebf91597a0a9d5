#include "format/image/image_template.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "format/image/changed_pieces.hpp"

namespace tailrace::impl {
namespace {

// ---- alike: HDF5 would write the same bytes, except for those that can be changed ----

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

bool is_alike(const IterationPlan::Dataset& a, const IterationPlan::Dataset& b) {
  const auto same_chunk = [](const PlacedChunk& x, const PlacedChunk& y) { return is_alike(x, y); };
  const std::vector<PlacedChunk>& chunks = a.stored.chunks;
  const std::vector<PlacedChunk>& others = b.stored.chunks;
  return a.variable == b.variable && a.in_chunks == b.in_chunks && a.shared == b.shared &&
         a.stored.extent.length == b.stored.extent.length && a.stored.shape == b.stored.shape &&
         a.stored.blocks == b.stored.blocks && is_alike(*a.block, *b.block, a.shared) && is_alike(a.loss, b.loss) &&
         std::equal(chunks.begin(), chunks.end(), others.begin(), others.end(), same_chunk);
}

template <class T>
bool is_alike(const std::map<std::string, T>& a, const std::map<std::string, T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first && is_alike(x.second, y.second); });
}

// Attributes of datasets without blocks are in no file, but then the iterations seldom are alike.
bool is_alike(const std::map<std::string, IterationPlan::Attributes>& a,
              const std::map<std::string, IterationPlan::Attributes>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && is_alike<IterationPlan::Noted>(x.second, y.second);
  });
}

bool is_alike(const Provenance& a, const Provenance& b) {
  Provenance same_date = a;
  same_date.date = b.date;
  return same_date == b && a.date.size() == b.date.size();
}

// ---- changing ----

std::span<const std::byte> bytes_of(const std::string& text, size_t count) {
  return {reinterpret_cast<const std::byte*>(text.data()), count};
}

// Changes a dataset's header to the new place of its raw data. Returns false if the header is not as expected.
bool move_raw(ChangedPieces& bytes, uint64_t header, uint64_t from, uint64_t to) {
  const std::optional<ObjectHeader> found = bytes.header_at(header);
  const std::optional<HeaderField> address = found ? found->raw_address() : std::nullopt;
  if (!address) return false;
  std::array<std::byte, 8> now{};
  std::array<std::byte, 8> expected{};
  put_number(from, expected);
  if (!bytes.read(address->value.offset, now) || now != expected) return false;
  put_number(to, now);
  bytes.set(*address, now);
  return true;
}

}  // namespace

bool ImageTemplate::is_alike(const Provenance& provenance, const std::string& number,
                             const IterationPlan& plan) const {
  const IterationPlan& last = *last_->plan;
  return last_->number.size() == number.size() && impl::is_alike(last_->provenance, provenance) &&
         last_->image.same_end(last.raw_end(), plan.raw_end()) && last.events() == plan.events() &&
         last.events_not_listed() == plan.events_not_listed() && last.missing() == plan.missing() &&
         last.missing_unnamed() == plan.missing_unnamed() && last.patches() == plan.patches() &&
         impl::is_alike(last.attributes(), plan.attributes()) &&
         impl::is_alike(last.dataset_attributes(), plan.dataset_attributes()) &&
         impl::is_alike(last.findings(), plan.findings()) && impl::is_alike(last.datasets(), plan.datasets());
}

// Changes the last image into that of a similar iteration.
bool ImageTemplate::change(const Provenance& provenance, int64_t iteration, const IterationPlan& plan) {
  ChangedPieces bytes(last_->image.pieces);
  last_->number = std::to_string(iteration);
  last_->provenance.date = provenance.date;
  using Bytes = std::array<std::byte, sizeof(double)>;
  bytes.set(last_->number_at, bytes_of(last_->number, last_->number.size()));
  bytes.set(last_->date, bytes_of(provenance.date, provenance.date.size() + 1));
  bytes.set(last_->time, std::bit_cast<Bytes>(plan.time(iteration)));
  bytes.set(last_->step, std::bit_cast<Bytes>(plan.step()));
  auto before = last_->plan->datasets().begin();
  auto header = last_->image.datasets.begin();
  for (const auto& [name, dataset] : plan.datasets()) {
    const uint64_t from = before->second.stored.extent.offset;
    const uint64_t to = dataset.stored.extent.offset;
    if (from != to && !move_raw(bytes, *header, from, to)) return false;
    ++before;
    ++header;
  }
  bytes.finish();
  return true;
}

// Keeps the image as the last one if all fields that may have to change are found in it.
void ImageTemplate::keep(Last last) {
  const ChangedPieces bytes(last.image.pieces);
  const std::optional<ObjectHeader> root = bytes.header_at(last.image.root);
  const std::optional<ObjectHeader> data = bytes.header_at(last.image.data);
  const std::optional<ObjectHeader> iteration = bytes.header_at(last.image.iteration);
  if (!root || !data || !iteration) return;
  const std::optional<HeaderField> date = root->attribute("date", last.provenance.date.size() + 1);
  const std::optional<HeaderField> number = data->link_name(last.number);
  const std::optional<HeaderField> time = iteration->attribute(kTimeAttribute, sizeof(double));
  const std::optional<HeaderField> step = iteration->attribute(kStepAttribute, sizeof(double));
  if (!date || !number || !time || !step) return;
  last.date = *date;
  last.number_at = *number;
  last.time = *time;
  last.step = *step;
  last_ = std::move(last);
}

Result<FileEnding> ImageTemplate::complete(const Provenance& provenance, int64_t iteration,
                                           std::shared_ptr<const IterationPlan> plan, const std::string& path) {
  std::string number = std::to_string(iteration);
  const uint64_t reached = plan->reached();
  if (last_ && is_alike(provenance, number, *plan) && change(provenance, iteration, *plan)) {
    last_->plan = std::move(plan);
    return last_->image.ending(reached);
  }
  last_.reset();  // keep one image, not two
  Result<IterationImage> image = make_image(config_, provenance, iteration, *plan, path);
  if (!image.ok()) return image.status();
  ++described_;
  FileEnding ending = image.value().ending(reached);
  keep({provenance, std::move(number), std::move(plan), std::move(image).value(), {}, {}, {}, {}});
  return ending;
}

}  // namespace tailrace::impl
