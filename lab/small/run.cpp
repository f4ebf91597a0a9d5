#include "lab/small/run.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "lab/core/cpus.hpp"
#include "lab/core/processes.hpp"
#include "lab/core/shared_memory.hpp"
#include "lab/pattern/clock.hpp"
#include "lab/pattern/json.hpp"
#include "lab/pattern/memory.hpp"
#include "lab/pattern/posix_file.hpp"
#include "lab/small/limit.hpp"
#include "lab/small/program_data.h"
#include "lab/small/way.hpp"

namespace bench::small {
namespace {

// The result of one client, which alone writes it; it is read after the client has ended. Times are of bench::now().
struct Result {
  double started = 0;
  double handed = 0;   // when it handed over its last piece
  double written = 0;  // when all its pieces were written
  double synced = 0;   // when the whole file was synced, for the first client alone
  Requests requests;
  uint64_t wrong_read = 0;  // bytes that it read back wrong
  std::array<char, 512> description{};
};

// Memory that the clients share, created before they are forked.
struct Shared {
  explicit Shared(int clients)
      : barrier(clients),
        memory(static_cast<size_t>(clients) * sizeof(Result)),
        results(new (memory.data()) Result[static_cast<size_t>(clients)], static_cast<size_t>(clients)) {}

  const core::Barrier barrier;
  const core::SharedMemory memory;
  const std::span<Result> results;
};

std::unique_ptr<Way> make_way(const Options& options, int client) {
  return options.way == WayKind::posix ? make_posix(options) : make_tailrace(options, client);
}

// One client's part of the pattern.
class Part {
 public:
  Part(const Options& options, int client)
      : pattern_(options.pattern),
        list_(options.list),
        client_(client),
        data_(program_data_bytes(&pattern_)),
        packed_(list_ * pattern_.length) {
    program_data_fill(&pattern_, client, data_.data());
  }

  // Hands over all pieces. Returns how many bytes it read back wrong.
  uint64_t carry_out(Way& way) {
    uint64_t wrong = 0;
    for (uint64_t piece = 0; piece < pattern_.pieces; piece += list_) {
      const uint64_t count = std::min(list_, pattern_.pieces - piece);
      pieces_.clear();
      for (uint64_t i = 0; i < count; ++i) {
        pieces_.push_back({access_pattern_offset(&pattern_, client_, piece + i), pattern_.length});
      }
      const char* const from = program_data_of(&pattern_, piece, count, data_.data(), packed_.data());
      const std::span<const char> bytes(from, count * pattern_.length);
      way.write(pieces_, bytes);
      if (pattern_.kind == ACCESS_BEHIND) wrong += read_back(way, bytes);
    }
    return wrong;
  }

 private:
  uint64_t read_back(Way& way, std::span<const char> written) {
    uint64_t wrong = 0;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const std::span<char> got(packed_.data(), pattern_.length);
      way.read(pieces_[i], got);
      const bool equal = std::memcmp(got.data(), written.data() + i * pattern_.length, pattern_.length) == 0;
      if (!equal) wrong += pattern_.length;
    }
    return wrong;
  }

  const access_pattern pattern_;
  const uint64_t list_;
  const int client_;
  const Buffer data_;
  const Buffer packed_;
  std::vector<tailrace::Extent> pieces_;  // of one call
};

void work(const Options& options, const Shared& shared, int client) {
  Part part(options, client);
  const std::unique_ptr<Way> way = make_way(options, client);
  Result& result = shared.results[static_cast<size_t>(client)];
  // Programs compute before their first output; meanwhile tailrace takes its memory from the system.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  shared.barrier.meet();
  result.started = now();
  result.wrong_read = part.carry_out(*way);
  result.handed = now();
  shared.barrier.meet();  // as the ranks of a program do before they wait for the end of their output
  way->flush();
  result.written = now();
  result.requests = way->requests();
  shared.barrier.meet();
  if (client == 0) way->sync();
  result.synced = now();
  shared.barrier.meet();  // leaving is not timed
  way->close();
  way->description().copy(result.description.data(), result.description.size() - 1);
}

// Returns the time of the last client, from the start of the first.
double last(const Shared& shared, double Result::*when) {
  double begin = shared.results.front().started;
  double end = 0;
  for (const Result& one : shared.results) {
    begin = std::min(begin, one.started);
    end = std::max(end, one.*when);
  }
  return end - begin;
}

Requests all_requests(const Options& options, const Shared& shared) {
  const bool one_server = options.way == WayKind::core;
  Requests all;
  for (const Result& one : shared.results) {
    all.transfers =
        one_server ? std::max(all.transfers, one.requests.transfers) : all.transfers + one.requests.transfers;
    all.merged = one_server ? std::max(all.merged, one.requests.merged) : all.merged + one.requests.merged;
  }
  return all;
}

std::string json_of(const Options& options, const Shared& shared) {
  const access_pattern& pattern = options.pattern;
  const Requests requests = all_requests(options, shared);
  uint64_t wrong_read = 0;
  for (const Result& one : shared.results) wrong_read += one.wrong_read;
  const int64_t wrong = program_data_wrong(&pattern, (options.dir + "/" + kFile).c_str());
  require(wrong >= 0, "read '" + options.dir + "/" + kFile + "'");
  return text_of({{"small_run", 1},
                  {"way", name_of(options.way)},
                  {"clients", pattern.clients},
                  {"pieces", pattern.pieces * static_cast<uint64_t>(pattern.clients)},
                  {"piece_bytes", pattern.length},
                  {"file_bytes", pattern.bytes},
                  {"handed", last(shared, &Result::handed)},
                  {"written", last(shared, &Result::written)},
                  {"synced", last(shared, &Result::synced)},
                  {"transfers", requests.transfers},
                  {"merged", requests.merged},
                  {"wrong_bytes", static_cast<uint64_t>(wrong) + wrong_read},
                  {"description", shared.results.front().description.data()}});
}

std::string limit_of(const Options& options) {
  const Shared shared(1);
  const Limit limit = write_limit(options);
  Result& result = shared.results.front();
  result.written = limit.written;
  result.synced = limit.synced;
  result.requests.transfers = limit.transfers;
  limit.description.copy(result.description.data(), result.description.size() - 1);
  return json_of(options, shared);
}

}  // namespace

std::string run(const Options& options) {
  PosixFile(options.dir + "/" + kFile, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC).close();
  if (options.way == WayKind::limit) return limit_of(options);
  if (options.way != WayKind::posix) core::leave_last_cpu();
  const Shared shared(options.pattern.clients);
  core::in_processes(options.pattern.clients, [&](int client) { work(options, shared, client); });
  return json_of(options, shared);
}

}  // namespace bench::small
