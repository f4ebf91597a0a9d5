// Part: a message from a process to an aggregator: some pieces of the file, in ascending order, and their bytes. The
// processes of a job exchange it, which run one version of the library on machines of one byte order.
#pragma once

#include <tailrace/tailrace.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "collective/message.hpp"
#include "collective/write/own_data.hpp"

namespace tailrace::collective {

struct PartHeader {
  uint64_t pieces = 0;
  uint64_t is_last = 0;  // of its stream
};
static_assert(sizeof(PartHeader) == 16);
static_assert(sizeof(tailrace_extent) == 16);

// A message, taken apart. It refers to the message's bytes.
class Part {
 public:
  Part() = default;
  explicit Part(Message message) : message_(std::move(message)) {
    std::memcpy(&header_, message_.data(), sizeof header_);
  }

  bool is_last() const { return header_.is_last != 0; }
  uint64_t pieces() const { return header_.pieces; }
  tailrace_extent piece(uint64_t index) const {
    tailrace_extent extent;
    std::memcpy(&extent, message_.data() + sizeof header_ + index * sizeof extent, sizeof extent);
    return extent;
  }
  const std::byte* data() const {
    return message_.data() + sizeof header_ + header_.pieces * sizeof(tailrace_extent);
  }

 private:
  Message message_;
  PartHeader header_;
};

// Makes the message with the bytes from `begin` to `begin` + `length` of `own`.
inline Message make_part(const OwnData& own, uint64_t begin, uint64_t length, bool is_last) {
  std::vector<tailrace_extent> extents;
  own.find(begin, length, extents);
  const PartHeader header{extents.size(), is_last ? 1U : 0U};
  const size_t list = extents.size() * sizeof(tailrace_extent);
  Message message(sizeof header + list + length);
  std::memcpy(message.data(), &header, sizeof header);
  if (list > 0) std::memcpy(message.data() + sizeof header, extents.data(), list);
  own.copy(begin, length, message.data() + sizeof header + list);
  return message;
}

}  // namespace tailrace::collective
