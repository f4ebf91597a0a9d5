// HeaderSums: tar headers whose check sums are off by one blank (octal 40), as CubeWriter 4.8 writes them. Cube's own
// tools do not compare check sums.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tailrace::cube {

class HeaderSums {
 public:
  // Goes from header to header of a plain tar archive, up to one that is no header.
  explicit HeaderSums(int descriptor);

  // Returns how many headers have such a sum.
  size_t odd() const { return mended_.size(); }
  // Puts the right sums into bytes of the archive, which begin at `offset`.
  void mend(uint64_t offset, std::span<std::byte> bytes) const;

 private:
  struct Mended {
    uint64_t offset;  // of the sum in the archive
    std::array<char, 7> text;
  };
  std::vector<Mended> mended_;
};

}  // namespace tailrace::cube
