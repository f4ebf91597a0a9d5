// TarLayout: where the members of an archive lie, if they are written in succession, each of a size that is
// known when it is added. It writes nothing.
#pragma once

#include <cstdint>
#include <string>

namespace tailrace::cube {

class TarLayout {
 public:
  struct Place {
    uint64_t header = 0;  // where header_bytes belongs
    std::string header_bytes;
    uint64_t offset = 0;   // of the member's first byte
    uint64_t padding = 0;  // zeros behind its last byte
  };

  // Adds a member. A GNU tar header is used if it has 8 GiB or more.
  Place add(const std::string& name, uint64_t bytes);
  // Returns the zeros that end the archive, and where they belong.
  uint64_t end() const { return next_; }
  static constexpr uint64_t kEndBytes = 1024;
  static constexpr uint64_t kHeaderBytes = 512;  // of each member

 private:
  uint64_t next_ = 0;
};

}  // namespace tailrace::cube
