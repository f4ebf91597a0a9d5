#include "storage/striped/stripe_layout.hpp"

#include <algorithm>

namespace tailrace::impl {

uint32_t StripeLayout::object_of(uint64_t offset) const {
  return static_cast<uint32_t>((first + offset / unit) % count);
}

uint64_t StripeLayout::in_object(uint32_t object, uint64_t offset) const {
  const uint64_t row = unit * count;
  const uint64_t begin = unit * position_of(object);
  const uint64_t rest = offset % row;
  return head + offset / row * unit + (rest > begin ? std::min(rest - begin, unit) : 0);
}

uint64_t StripeLayout::in_file(uint32_t object, uint64_t at) const {
  const uint64_t data = at - head;
  return (data / unit * count + position_of(object)) * unit + data % unit;
}

uint64_t StripeLayout::least_size(uint32_t object, uint64_t object_size) const {
  return object_size <= head ? 0 : in_file(object, object_size - 1) + 1;
}

}  // namespace tailrace::impl
