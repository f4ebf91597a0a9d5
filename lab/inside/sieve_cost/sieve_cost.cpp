// Measures the gain of data sieving: a read of many pieces with holes between them, from the page cache, piece by
// piece and including the holes. `merge.sieve` should be where the two take equally long.
//
// It uses the engine on the back end `uring`, else `posix`, and a new file in the given folder.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/schedule/fifo.hpp"
#include "storage/posix/posix_storage.hpp"
#include "storage/uring/uring_storage.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kLengths[] = {512, 4096};
constexpr uint64_t kHoles[] = {512, 2048, 4096, 8192, 16384, 65536};

class Sink final : public CompletionSink {
 public:
  void ended(const Request&, const Status& status) override { TAILRACE_REQUIRE(status.ok()); }
};

std::unique_ptr<Storage> open_storage(Doorbell& doorbell) {
  UringStorage::Options options;
  options.depth = 8;
  auto uring = UringStorage::create(doorbell, options);
  if (uring.ok()) return std::move(uring).value();
  return std::move(PosixStorage::create(doorbell, {})).value();
}

class Reader {
 public:
  Reader(Storage& storage, Doorbell& doorbell, bool sieves)
      : doorbell_(doorbell), engine_(storage, fifo_, clock_, options(sieves)) {}

  FileId open(const std::string& path, OpenMode mode) {
    return engine_.add(path, engine_.files().open(path, mode, 0).value());
  }

  // Returns the seconds that the run takes.
  double run(Operation operation, FileId file, std::vector<Piece> pieces) {
    Request request;
    request.operation = operation;
    request.file = file;
    request.pieces = std::move(pieces);
    request.sink = &sink_;
    const auto start = std::chrono::steady_clock::now();
    engine_.submit(std::move(request));
    engine_.progress();
    while (!engine_.idle()) {
      doorbell_.prepare();
      engine_.progress();
      engine_.idle() ? doorbell_.cancel() : doorbell_.sleep();
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  static EngineOptions options(bool sieves) {
    EngineOptions options;
    options.merge.sieve = sieves ? kHoles[std::size(kHoles) - 1] : 0;
    options.merge.waste = 1.0;
    return options;
  }

  Doorbell& doorbell_;
  SteadyClock clock_;
  Fifo fifo_;
  Sink sink_;
  Engine engine_;
};

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void measure(const std::string& path, bool tiny) {
  const uint64_t count = tiny ? 16 : 1024;
  const uint64_t largest = count * (kLengths[1] + kHoles[std::size(kHoles) - 1]);
  std::vector<std::byte> memory(std::min<uint64_t>(largest, uint64_t{8} << 20), std::byte{1});
  Doorbell doorbell;
  const std::unique_ptr<Storage> storage = open_storage(doorbell);
  Reader plain(*storage, doorbell, false);
  Reader sieving(*storage, doorbell, true);
  const FileId written = plain.open(path, OpenMode::create);
  const FileId read = sieving.open(path, OpenMode::read);
  for (uint64_t at = 0; at < largest; at += memory.size()) {
    plain.run(Operation::write, written, {{{at, memory.size()}, memory.data()}});
  }
  std::printf("reading %llu pieces with holes between them, ns a piece (median of several)\n",
              static_cast<unsigned long long>(count));
  std::printf("  %6s %6s %10s %10s %7s\n", "piece", "hole", "each", "sieved", "ratio");
  for (const uint64_t length : kLengths) {
    for (const uint64_t hole : kHoles) {
      std::vector<Piece> pieces;
      for (uint64_t i = 0; i < count; ++i) {
        pieces.push_back({{i * (length + hole), length}, memory.data() + (2 * i * length) % (memory.size() / 2)});
      }
      std::vector<double> times[2];
      for (int round = 0; round < (tiny ? 1 : 15); ++round) {
        times[0].push_back(plain.run(Operation::read, written, pieces));
        times[1].push_back(sieving.run(Operation::read, read, pieces));
      }
      const double each = 1e9 * median(times[0]) / static_cast<double>(count);
      const double sieved = 1e9 * median(times[1]) / static_cast<double>(count);
      std::printf("  %6llu %6llu %10.0f %10.0f %7.2f\n", static_cast<unsigned long long>(length),
                  static_cast<unsigned long long>(hole), each, sieved, each / sieved);
    }
  }
}

}  // namespace
}  // namespace tailrace::impl

int main(int argc, char** argv) {
  const bool tiny = argc == 3 && std::strcmp(argv[1], "--tiny") == 0;
  if (argc != (tiny ? 3 : 2)) {
    std::fprintf(stderr, "usage: sieve_cost [--tiny] FOLDER\n");
    return 2;
  }
  const std::string path = std::string(argv[argc - 1]) + "/sieve_cost.raw";
  tailrace::impl::measure(path, tiny);
  std::filesystem::remove(path);
  return 0;
}
