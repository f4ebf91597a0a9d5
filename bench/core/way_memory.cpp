// memory: a memcpy into memory of the program's own, and no output at all. What a copy takes while the machine does
// what it does: nothing that copies can be steadier.
#include <cstring>

#include "bench/core/way.hpp"
#include "bench/pattern/memory.hpp"

namespace bench::core {
namespace {

class Memory final : public Way {
 public:
  explicit Memory(const RunOptions& options) : to_(options.bytes) {}

  void put(int64_t, std::span<const float> block) override {
    std::memcpy(to_.data(), block.data(), block.size_bytes());
    asm volatile("" : : "r"(to_.data()) : "memory");  // somebody looks at it
  }

  std::string description() const override { return "memcpy into private memory"; }

 private:
  const Buffer to_;
};

}  // namespace

std::unique_ptr<Way> make_memory(const RunOptions& options, int) { return std::make_unique<Memory>(options); }

}  // namespace bench::core
