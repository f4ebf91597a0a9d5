#include "model/config/config.hpp"

#include "base/assert.hpp"

namespace tailrace::impl {

std::string series_of(const Config& config, int client) {
  switch (config.storage.file_per) {
    case FilePer::process: return config.name + "_c" + std::to_string(client);
    case FilePer::node: return config.name + "_n" + std::to_string(config.place.node);
    case FilePer::job: return config.name;
  }
  TAILRACE_ASSERT(false);
}

std::string shared_writer_of(const Config& config) {
  const bool alone = config.storage.file_per == FilePer::job && !config.nodes_share_files();
  return alone ? "job" : "n" + std::to_string(config.place.node);
}

}  // namespace tailrace::impl
