// Archive: a Cube 4 profile (.cubex), a tar archive, plain or compressed as a whole, opened for reading.
//
// Any thread may read. Errors throw Error, which names the file and the member.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tailrace::cube {

struct Member {
  std::string name;
  uint64_t offset = 0;  // of its first byte
  uint64_t bytes = 0;
};

class Archive {
 public:
  // Reads the names of all members. An archive that is compressed entirely is unpacked into a file without a name
  // in `scratch`, such as /tmp. Refuses what is cut off, has wrong check sums, or has a member twice, and what
  // unpacks to far more than profiles do.
  explicit Archive(const std::string& path, const std::string& scratch = "",
                   uint64_t most_unpacked = uint64_t{1} << 30);
  ~Archive();
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  const std::string& path() const { return path_; }
  const std::vector<Member>& members() const { return members_; }
  // Says what is wrong and does not matter: headers whose check sums are off by a blank. "": nothing.
  const std::string& warning() const { return warning_; }
  const Member* find(const std::string& name) const;  // null: there is none
  const Member& get(const std::string& name) const;   // throws if there is none

  // Fills `to` with the bytes of a member from `offset` on.
  void read(const Member& member, uint64_t offset, std::span<std::byte> to) const;
  // Returns a whole member; if it is a gzip stream, what it contains: at most `most` bytes, and at most
  // most_unpacked() of its own.
  std::string text(const Member& member, uint64_t most = uint64_t{4} << 30) const;
  // Returns how much a member of that many bytes may contain. Anchors are packed to a tenth or so; a gzip stream that
  // was made to fill the memory, to a thousandth.
  static uint64_t most_unpacked(uint64_t bytes) { return (uint64_t{64} << 20) + kMostRatio * bytes; }
  static constexpr uint64_t kMostRatio = 256;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::vector<Member> members_;
  std::string warning_;
};

}  // namespace tailrace::cube
