#include "lab/inside/forward_study/disk_model.hpp"

#include <cmath>

namespace tailrace::impl::study {

Nanoseconds DiskModel::serve(uint64_t position, uint64_t bytes) {
  const Nanoseconds positioning = position_at(position);
  const Nanoseconds time = parameters_.overhead + positioning + passing(bytes);
  head_ = position + bytes;
  ++counts_.requests;
  counts_.bytes += bytes;
  counts_.positioning += positioning;
  counts_.busy += time;
  return time;
}

Nanoseconds DiskModel::position_at(uint64_t position) {
  if (position == head_) return Nanoseconds::zero();
  const bool forwards = position > head_;
  const uint64_t distance = forwards ? position - head_ : head_ - position;
  const Nanoseconds there = seek(distance) + parameters_.half_turn;
  if (forwards && parameters_.passes_gaps && passing(distance) < there) {
    ++counts_.passed;
    return passing(distance);
  }
  ++counts_.seeks;
  return there;
}

Nanoseconds DiskModel::seek(uint64_t distance) const {
  const double part = std::sqrt(static_cast<double>(distance) / static_cast<double>(parameters_.capacity));
  const auto range = static_cast<double>((parameters_.full_stroke - parameters_.settle).count());
  return parameters_.settle + Nanoseconds(static_cast<int64_t>(range * part));
}

Nanoseconds DiskModel::passing(uint64_t bytes) const {
  return Nanoseconds(static_cast<int64_t>(1e9 * static_cast<double>(bytes) / parameters_.rate));
}

}  // namespace tailrace::impl::study
