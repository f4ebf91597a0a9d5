#include "cube/remap/tailrace_sink.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "cube/archive/error.hpp"

namespace tailrace::cube {
namespace {

// The blocks are the program's: tailrace needs memory for requests alone.
std::string configuration(const SinkOptions& options) {
  const std::string durability = options.durable ? "durable" : "written";
  return "tailrace: 1\nname: cube\nmemory: {budget: 4 MiB}\nstorage: {durability: " + durability + "}\n" +
         (options.cpu < 0 ? "" : "place: {kind: thread, cpus: [" + std::to_string(options.cpu) + "]}\n");
}

std::string last_error(tailrace_client* client, tailrace_status status) {
  tailrace_error error{};
  error.struct_size = sizeof error;
  if (tailrace_last_error(client, &error) == TAILRACE_OK && error.message != nullptr) return error.message;
  return tailrace_status_text(status);
}

}  // namespace

TailraceSink::TailraceSink(const std::string& path, const SinkOptions& options)
    : Sink(options.block_bytes),
      path_(std::filesystem::absolute(path)),
      pool_(options.block_bytes, std::max<uint64_t>(4, options.budget / options.block_bytes)) {
  const std::string text = configuration(options);
  std::error_code missing;
  const std::string folder = std::filesystem::canonical(std::filesystem::path(path_).parent_path(), missing);
  if (missing) throw Error(path + ": its folder: " + missing.message());
  tailrace_open_options opening{};
  opening.struct_size = sizeof opening;
  opening.config_text = text.c_str();
  opening.path = folder.c_str();
  opening.files = folder.c_str();
  const tailrace_status status = tailrace_open_with("tailrace cube", 0, &opening, &client_);
  if (status != TAILRACE_OK) throw Error(path + ": " + last_error(nullptr, status));
  const std::string name = folder + "/" + std::filesystem::path(path_).filename().string();
  constexpr int kMode = TAILRACE_FILE_WRITE | TAILRACE_FILE_TRUNCATE | TAILRACE_FILE_PUBLISH;
  const tailrace_status opened = tailrace_file_open(client_, name.c_str(), kMode, &file_);
  if (opened == TAILRACE_OK) return;
  const std::string why = last_error(client_, opened);
  tailrace_close(client_);
  throw Error(path + ": " + why);
}

// After a failure the file stays PATH.partial.
TailraceSink::~TailraceSink() {
  if (client_ == nullptr) return;
  tailrace_file_give_up(file_);
  tailrace_file_close(file_);
  tailrace_close(client_);
}

// Blocks that are written are used again at once: the caches and the page tables know them.
std::byte* TailraceSink::take(uint64_t offset) {
  const std::lock_guard lock(mutex_);
  while (!lent_.empty() && has_ended(lent_.front())) reclaim_oldest();
  while (pool_.empty()) reclaim_oldest();
  return pool_.take(offset);
}

bool TailraceSink::has_ended(const Lent& lent) const {
  int ended = 0;
  check(tailrace_test(lent.ticket, &ended));
  return ended != 0;
}

void TailraceSink::write(std::byte* block, size_t bytes, uint64_t offset) {
  const std::lock_guard lock(mutex_);
  const tailrace_extent extent{offset, bytes};
  tailrace_ticket ticket{};
  const tailrace_status status = tailrace_file_borrow(file_, 1, &extent, block, &ticket);
  lent_.push_back({block, ticket});  // a zeroed ticket has ended
  check(status);
}

void TailraceSink::give_back(std::byte* block) {
  const std::lock_guard lock(mutex_);
  pool_.give_back(block);
}

void TailraceSink::finish() {
  const std::lock_guard lock(mutex_);
  while (!lent_.empty()) reclaim_oldest();
  const tailrace_status closed = tailrace_file_close(file_);
  std::string why = closed == TAILRACE_OK ? "" : last_error(client_, closed);
  const tailrace_status ended = tailrace_close(client_);
  client_ = nullptr;
  if (why.empty() && ended != TAILRACE_OK) why = tailrace_status_text(ended);
  if (!why.empty()) throw Error(path_ + ": " + why);
}

void TailraceSink::reclaim_oldest() {
  if (lent_.empty()) throw Error(path_ + ": more blocks are in use than the budget has");
  const Lent oldest = lent_.front();
  const tailrace_status status = tailrace_wait(oldest.ticket, -1);
  lent_.pop_front();
  pool_.give_back(oldest.block);
  check(status);
}

void TailraceSink::check(tailrace_status status) const {
  if (status != TAILRACE_OK) throw Error(path_ + ": " + last_error(client_, status));
}

}  // namespace tailrace::cube
