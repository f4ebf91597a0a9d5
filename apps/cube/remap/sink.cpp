#include "cube/remap/sink.hpp"

#include <algorithm>
#include <cstring>

#include "cube/remap/plain_sink.hpp"
#include "cube/remap/tailrace_sink.hpp"

namespace tailrace::cube {

std::optional<Writer> writer_of(std::string_view name) {
  if (name == "tailrace") return Writer::tailrace;
  if (name == "aligned") return Writer::aligned;
  if (name == "pinned") return Writer::pinned;
  if (name == "naive") return Writer::naive;
  if (name == "sync") return Writer::synchronous;
  if (name == "none") return Writer::nothing;
  return std::nullopt;
}

void Sink::write_copy(std::string_view bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const size_t part = std::min(bytes.size(), block_bytes_);
    std::byte* const block = take(offset);
    std::memcpy(block, bytes.data(), part);
    write(block, part, offset);
    bytes.remove_prefix(part);
    offset += part;
  }
}

std::unique_ptr<Sink> open_sink(const std::string& path, const SinkOptions& options) {
  if (options.writer == Writer::tailrace) return std::make_unique<TailraceSink>(path, options);
  return std::make_unique<PlainSink>(path, options);
}

}  // namespace tailrace::cube
