#include "format/image/image_template.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "format/image/alike.hpp"
#include "format/image/changed_pieces.hpp"

namespace tailrace::impl {
namespace {

bool same_but_for_the_date(const Provenance& a, const Provenance& b) {
  Provenance same_date = a;
  same_date.date = b.date;
  return same_date == b && a.date.size() == b.date.size();
}

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

// Returns how the last image becomes that of another iteration; none if it cannot.
std::optional<std::vector<Move>> ImageTemplate::moves_to(const Provenance& provenance, const std::string& number,
                                                         const IterationPlan& plan) const {
  const bool same = last_->number.size() == number.size() && same_but_for_the_date(last_->provenance, provenance) &&
                    last_->image.same_end(last_->plan->raw_end(), plan.raw_end());
  return same ? moves_between(*last_->plan, plan) : std::nullopt;
}

// Changes the last image into that of a similar iteration.
bool ImageTemplate::change(const Provenance& provenance, int64_t iteration, const IterationPlan& plan,
                           const std::vector<Move>& moves) {
  ChangedPieces bytes(last_->image.pieces);
  last_->number = std::to_string(iteration);
  last_->provenance.date = provenance.date;
  using Bytes = std::array<std::byte, sizeof(double)>;
  bytes.set(last_->number_at, bytes_of(last_->number, last_->number.size()));
  bytes.set(last_->date, bytes_of(provenance.date, provenance.date.size() + 1));
  bytes.set(last_->time, std::bit_cast<Bytes>(plan.time(iteration)));
  bytes.set(last_->step, std::bit_cast<Bytes>(plan.step()));
  for (const Move& move : moves) {
    if (!move_raw(bytes, last_->image.datasets[move.dataset], move.from, move.to)) return false;
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
  const auto moves = last_ ? moves_to(provenance, number, *plan) : std::nullopt;
  if (moves && change(provenance, iteration, *plan, *moves)) {
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
