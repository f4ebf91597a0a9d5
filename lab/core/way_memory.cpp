// memory: a memcpy into the program's own memory, and no output. It shows the time of a copy under the machine's
// present load: nothing that copies can be steadier.
#include <cstring>

#include "lab/core/way.hpp"
#include "lab/pattern/memory.hpp"

namespace bench::core {
namespace {

class Memory final : public Way {
 public:
  explicit Memory(const RunOptions& options) : to_(options.bytes) {}

  void put(int64_t, std::span<const float> block) override {
    std::memcpy(to_.data(), block.data(), block.size_bytes());
    asm volatile("" : : "r"(to_.data()) : "memory");  // keeps the copy
  }

  std::string description() const override { return "memcpy into private memory"; }

 private:
  const Buffer to_;
};

}  // namespace

std::unique_ptr<Way> make_memory(const RunOptions& options, int) { return std::make_unique<Memory>(options); }

}  // namespace bench::core
