#include "server/iteration_limit.hpp"

#include <algorithm>

#include "channel/iteration_table.hpp"

namespace tailrace::impl {
namespace {

// Approximate memory for the metadata of an unfinished iteration.
constexpr uint64_t kMetadata = uint64_t{12} << 10;           // bytes …
constexpr uint64_t kMetadataOfVariable = uint64_t{2} << 10;  // … and for each variable
// For all iterations together, beside the budget.
constexpr uint64_t kLeastForMetadata = uint64_t{2} << 20;
constexpr uint64_t kMostForMetadata = uint64_t{4} << 20;

}  // namespace

uint32_t iteration_limit(const Config& config, uint64_t descriptors) {
  const uint64_t each = kMetadata + kMetadataOfVariable * config.variables.size();
  const uint64_t memory = std::clamp(config.memory.budget, kLeastForMetadata, kMostForMetadata);
  uint64_t limit = std::max(memory / each, kIterationsWhateverMemory);
  if (!config.storage.has_file_each()) return 1;  // an iteration begins behind the one before it in the file
  uint64_t files = std::max<uint64_t>(config.storage.stripes.directories.size(), 1);  // that one file is
  if (config.format.xdmf != XdmfIterations::none) ++files;
  limit = std::min({limit, descriptors / (kDescriptorsPerIteration * files), uint64_t{config.memory.iterations}});
  return static_cast<uint32_t>(std::clamp<uint64_t>(limit, 1, IterationTable<>::kMost));
}

}  // namespace tailrace::impl
