// Domains: which forwarder has which bytes of a file that is spread over several. Pure computation.
//
// All stripes of one data server belong to one forwarder, in all files: so no two forwarders write to one data server
// at once, and each is an aggregator of its servers. If the file system reports no stripes, forwarders take turns in
// pieces of kUnit, beginning with the one that has the whole file.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/stored_file.hpp"

namespace tailrace::impl {

class Domains {
 public:
  static constexpr uint64_t kUnit = uint64_t{16} << 20;  // bytes

  // `first`: the forwarder that has the whole file, below `forwarders`.
  Domains(const StripeMap& stripes, size_t forwarders, size_t first);

  // Returns the forwarder of the byte at `offset`.
  size_t forwarder_of(uint64_t offset) const;
  // Returns how many bytes from `offset` on are that forwarder's, without a gap; `most` at most.
  uint64_t length_at(uint64_t offset, uint64_t most) const;

 private:
  StripeMap stripes_;
  size_t forwarders_;
};

}  // namespace tailrace::impl
