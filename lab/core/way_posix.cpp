// posix: the simplest good synchronous writer. A file for each iteration and process, space reserved, pieces of 8 MiB
// bypassing the page cache; if that is not possible, synced.
#include <fcntl.h>

#include <algorithm>

#include "lab/core/program_config.hpp"
#include "lab/core/way.hpp"
#include "lab/pattern/posix_file.hpp"

namespace bench::core {
namespace {

constexpr uint64_t kPiece = uint64_t{8} << 20;

class Posix final : public Way {
 public:
  Posix(const RunOptions& options, int process)
      : stem_(options.dir + "/posix_c" + std::to_string(process) + "_"), direct_(can_bypass_cache(options.dir)) {}

  void put(int64_t iteration, std::span<const float> block) override {
    const std::string name = stem_ + std::to_string(iteration);
    PosixFile file(name, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC | (direct_ ? O_DIRECT : 0));
    file.reserve(block.size_bytes());
    const auto* const data = reinterpret_cast<const char*>(block.data());
    for (uint64_t at = 0; at < block.size_bytes(); at += kPiece) {
      file.write_at(at, data + at, std::min<uint64_t>(kPiece, block.size_bytes() - at));
    }
    if (!direct_) file.sync();
    file.close();
  }

  std::string description() const override {
    return std::string("pwrite in pieces of 8 MiB, ") +
           (direct_ ? "past the page cache" : "through the page cache, fdatasync");
  }

 private:
  const std::string stem_;
  const bool direct_;
};

}  // namespace

std::unique_ptr<Way> make_posix(const RunOptions& options, int process) {
  return std::make_unique<Posix>(options, process);
}

}  // namespace bench::core
