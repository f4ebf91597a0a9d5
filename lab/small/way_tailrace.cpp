// thread, core: a raw file through the library.
#include <algorithm>

#include "lab/core/program_config.hpp"
#include "lab/small/way.hpp"

namespace bench::small {
namespace {

// Returns room for everything that a client hands over, with the list of each call, so that the time contains no wait
// for memory.
uint64_t budget_of(const Options& options) {
  constexpr uint64_t kPage = 4096;
  constexpr uint64_t kSlack = uint64_t{4} << 20;
  const access_pattern& pattern = options.pattern;
  const uint64_t call = options.list * (pattern.length + sizeof(tailrace::Extent)) + 2 * kPage;
  const uint64_t all = (pattern.pieces + options.list - 1) / options.list * call;
  return 2 * all + kSlack;
}

std::string config_of(const Options& options) {
  const std::string place =
      options.way == WayKind::thread ? "thread" : "core, clients: " + std::to_string(options.pattern.clients);
  return "tailrace: 1\nname: small\nplace: {kind: " + place +
         "}\nmemory: {budget: " + std::to_string(budget_of(options)) +
         "}\nstorage: {existing: replace, path: " + core::quoted(options.dir) + "}\nmerge: {" + options.merge +
         "}\nlayouts: {none: {type: uint8, shape: [1]}}\nvariables: {none: {layout: none}}\n";
}

class Tailrace final : public Way {
 public:
  Tailrace(const Options& options, int client)
      : client_(tailrace::open("small_bench", client, {.text = config_of(options)})),
        file_(client_.open_file(kFile)) {}

  void write(std::span<const tailrace::Extent> pieces, std::span<const char> bytes) override {
    file_.write(pieces, bytes);
  }
  void read(const tailrace::Extent& piece, std::span<char> bytes) override { file_.read(piece.offset, bytes); }
  void flush() override { client_.flush(); }

  Requests requests() const override {
    const tailrace::Stats stats = client_.stats();
    return {.transfers = stats.transfers, .merged = stats.requests_merged};
  }

  void sync() override { file_.sync(); }

  void close() override {
    description_ = client_.describe();
    file_.close();
    client_.close();
  }

  std::string description() const override { return description_; }

 private:
  tailrace::Client client_;
  tailrace::File file_;
  std::string description_;
};

}  // namespace

std::unique_ptr<Way> make_tailrace(const Options& options, int client) {
  return std::make_unique<Tailrace>(options, client);
}

}  // namespace bench::small
