// An attribute as bytes, and these bytes as parts of descriptors (Verb::attribute). Bytes shared between processes:
// fixed width, versioned with Descriptor. The server checks all of it.
//
//   u8 kind: the index in AttributeValue · u8 bytes of the name · the name · u32 count · the elements: i64, f64, or
//   for each text u32 bytes and the bytes. A single value has count 1.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/attribute.hpp"
#include "model/wire/descriptor_wire.hpp"

namespace tailrace::impl {

// Returns the bytes; at most kMostAttributeBytes of them can be sent.
std::vector<std::byte> to_bytes(std::string_view name, const AttributeValue& value);
// Fails with TAILRACE_INVALID_ARGUMENT for bytes that to_bytes() does not make.
Result<Attribute> to_attribute(std::span<const std::byte> bytes);

// Returns how many parts the bytes have.
uint32_t attribute_parts(size_t bytes);
// Returns the part of that index.
Descriptor::Part attribute_part(std::span<const std::byte> bytes, uint32_t index);

// Collects the parts of one attribute, in order. Trusts none of them.
class AttributeParts {
 public:
  // Returns ok if the part follows those before it, or may do so if `some_lost`: an earlier server, which has had
  // these, may have forgotten them.
  Status check(const Descriptor& descriptor, bool some_lost) const;
  // Adds the part; requires check(). Returns true if it was the last: then take() has the attribute, if it is whole.
  bool add(const Descriptor& descriptor);
  Result<Attribute> take();

 private:
  std::vector<std::byte> bytes_;
  uint32_t next_ = 0;       // index of the next part; 0: none has come
  uint32_t variable_ = 0;   // of the parts that have come
  int64_t iteration_ = -1;  // of the parts that have come
  uint32_t count_ = 0;
};

}  // namespace tailrace::impl
