// StripeLayout: where each byte of a striped file lies: in which object, and where in it.
//
// Pure arithmetic. Stripe s lies in object (first + s) modulo count; each object has its stripes back to back,
// behind its head. So a contiguous range of the file has at most one contiguous range in each object. A file that is
// not striped is one object, without a head and with one stripe that never ends.
#pragma once

#include <cstdint>

namespace tailrace::impl {

struct StripeLayout {
  static constexpr uint64_t kEndless = uint64_t{1} << 63;

  uint64_t unit = kEndless;
  uint32_t count = 1;
  uint32_t first = 0;
  uint64_t head = 0;  // bytes of an object before its stripes

  // Returns the index of the object that has the byte at `offset`.
  uint32_t object_of(uint64_t offset) const;
  // Returns how much of the byte's stripe lies from `offset` on.
  uint64_t left_in_stripe(uint64_t offset) const { return unit - offset % unit; }
  // Returns where the object has the file's first byte from `offset` on that it has at all. So it is also the size of
  // the object if the file has `offset` bytes.
  uint64_t in_object(uint32_t object, uint64_t offset) const;
  // Returns the file's offset of the byte that the object has at `at`, which is not in its head.
  uint64_t in_file(uint32_t object, uint64_t at) const;
  // Returns the least size of a file whose object has this size.
  uint64_t least_size(uint32_t object, uint64_t object_size) const;

 private:
  // Returns the number of the object's first stripe.
  uint32_t position_of(uint32_t object) const { return (object + count - first) % count; }
};

}  // namespace tailrace::impl
