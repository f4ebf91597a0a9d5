// Sealed messages on their way. The input is a script: genuine messages in any order and more than once, with changed
// bytes, with other bulk data, and bytes that are no message. Properties: a message is accepted if it is genuine, has
// not come before, and is not too far behind; a refused one changes nothing and gives its reason in one line; bulk
// data are accepted if they are those of their message.
#include <cstring>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "target.hpp"
#include "transport/secure/seal.hpp"

namespace tailrace::fuzz {
namespace {

using namespace impl;  // NOLINT: it is their test
using Bytes = std::vector<std::byte>;

constexpr int kMostSteps = 64;
constexpr uint64_t kNumbers[] = {
    0, 1, 2, 3, 500, 1022, 1023, 1024, 1025, 1500, 2047, 2048, 2049, 5000, kSequenceLimit - 2, kSequenceLimit - 1};

struct Sent {
  uint64_t number = 0;
  Bytes body;
  Bytes message;
  Bytes bulk;  // as it travels
};

// Reads numbers from the front of the input; zeros behind its end.
class Script {
 public:
  Script(const uint8_t* data, size_t size) : left_(data, size) {}
  bool ended() const { return left_.empty(); }
  unsigned byte() {
    if (left_.empty()) return 0;
    const uint8_t first = left_.front();
    left_ = left_.subspan(1);
    return first;
  }
  Bytes bytes(size_t count) {
    Bytes taken(count);
    for (std::byte& one : taken) one = static_cast<std::byte>(byte());
    return taken;
  }

 private:
  std::span<const uint8_t> left_;
};

std::vector<Sent> seal_all(bool hides) {
  std::vector<Sent> all;
  for (const uint64_t number : kNumbers) {
    Sent& sent = all.emplace_back();
    sent.number = number;
    sent.body.assign(number % 7, std::byte{1});
    Bytes plain(number % 5 * 30, std::byte{2});
    sent.bulk = plain;
    const size_t third = plain.size() / 3;
    const iovec parts[] = {{plain.data(), third}, {plain.data() + third, plain.size() - third}};
    Sealer sealer(Secret{}, hides, number);
    const Status status = hides ? sealer.seal_hidden(sent.body, parts, sent.bulk, sent.message)
                                : sealer.seal(sent.body, parts, sent.message);
    TAILRACE_REQUIRE(status.ok());
  }
  return all;
}

// Returns the genuine messages, made once.
const std::vector<Sent>& genuine(bool hides) {
  static const std::vector<Sent> of_kind[] = {seal_all(false), seal_all(true)};
  return of_kind[hides ? 1 : 0];
}

class Channel {
 public:
  explicit Channel(bool hides) : sent_(genuine(hides)), opener_(Secret{}, hides) {}

  void step(Script& script) {
    const unsigned kind = script.byte() % 5;
    const Sent& sent = sent_[script.byte() % sent_.size()];
    switch (kind) {
      case 0: return deliver(sent, sent.message, sent.bulk.size());
      case 1: {
        Bytes message = sent.message;
        const size_t at = script.byte() % message.size();
        message[at] ^= static_cast<std::byte>(script.byte());
        return deliver(sent, message, sent.bulk.size());
      }
      case 2: return deliver(sent, script.bytes(script.byte()), sent.bulk.size());
      case 3: return deliver(sent, sent.message, script.byte());
      default: {
        Bytes message = sent.message;
        message.resize(script.byte());
        return deliver(sent, message, sent.bulk.size());
      }
    }
  }

  // Bulk data with one byte changed, if `script` says so.
  void check_bulk(Script& script) {
    if (opened_.empty()) return;
    const auto& [sent, tag] = opened_[script.byte() % opened_.size()];
    Bytes bulk = sent->bulk;
    const unsigned by = script.byte();
    if (!bulk.empty()) bulk[script.byte() % bulk.size()] ^= static_cast<std::byte>(by);
    const Status status = opener_.open_bulk(tag, bulk);
    TAILRACE_REQUIRE(status.ok() == (by == 0 || bulk.empty()));
    if (!status.ok()) return require_readable(status.fault().message);
    for (const std::byte byte : bulk) TAILRACE_REQUIRE(byte == std::byte{2});
  }

 private:
  bool is_welcome(uint64_t number) const {
    return come_.empty() || number > *come_.rbegin() ||
           (*come_.rbegin() - number < ReplayWindow::kSize && !come_.contains(number));
  }

  void deliver(const Sent& sent, const Bytes& message, uint64_t bulk) {
    const bool is_right = message == sent.message && bulk == sent.bulk.size() && is_welcome(sent.number);
    const Result<Unsealed> opened = opener_.open(message, bulk);
    TAILRACE_REQUIRE(opened.ok() == is_right);
    if (!opened.ok()) return require_readable(opened.status().fault().message);
    TAILRACE_REQUIRE(opened.value().body == sent.body);
    TAILRACE_REQUIRE(opened.value().bulk.bytes == bulk && opened.value().bulk.sequence == sent.number);
    come_.insert(sent.number);
    opened_.emplace_back(&sent, opened.value().bulk);
  }

  const std::vector<Sent>& sent_;
  Opener opener_;
  std::set<uint64_t> come_;
  std::vector<std::pair<const Sent*, BulkTag>> opened_;
};

}  // namespace
}  // namespace tailrace::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tailrace::fuzz;  // NOLINT: the target
  Script script(data, size);
  Channel channel(script.byte() % 2 == 1);
  for (int step = 0; step < kMostSteps && !script.ended(); ++step) {
    channel.step(script);
    channel.check_bulk(script);
  }
  return 0;
}
