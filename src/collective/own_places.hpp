// OwnPlaces: where in the file the data of a process lie, in the order of the file. A port: the door that has the
// view implements it.
#pragma once

#include <tailrace/tailrace.h>

#include <cstdint>
#include <vector>

namespace tailrace::collective {

class OwnPlaces {
 public:
  virtual ~OwnPlaces() = default;
  // Returns how many bytes of the data lie below `offset` in the file.
  virtual uint64_t below(uint64_t offset) const = 0;
  // Appends where the data from byte `begin` to `begin` + `length` lie. The places ascend and do not overlap.
  virtual void find(uint64_t begin, uint64_t length, std::vector<tailrace_extent>& out) const = 0;
};

}  // namespace tailrace::collective
