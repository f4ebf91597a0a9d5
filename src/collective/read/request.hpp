// Request, Reply: the messages of a collective read. A request goes from a process to an aggregator: it names some
// pieces of the file, in ascending order. The reply has their bytes back to back. The processes of a job
// exchange them, which run one version of the library on machines of one byte order.
#pragma once

#include <tailrace/tailrace.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "collective/message.hpp"
#include "collective/own_places.hpp"
#include "collective/plan.hpp"

namespace tailrace::collective {

// A file domain is read in ranges of this many bytes.
struct RequestHeader {
  uint64_t range = 0;    // which range of the domain the pieces are in
  uint64_t pieces = 0;   // 0: nothing is asked for, and no process replies
  uint64_t is_last = 0;  // of the process's requests to the aggregator
};

// A message, taken apart.
class Request {
 public:
  explicit Request(const Message& message) {
    std::memcpy(&header_, message.data(), sizeof header_);
    pieces_.resize(header_.pieces);
    if (pieces_.empty()) return;
    std::memcpy(static_cast<void*>(pieces_.data()), message.data() + sizeof header_,
                pieces_.size() * sizeof(tailrace_extent));
  }

  uint64_t range() const { return header_.range; }
  bool is_last() const { return header_.is_last != 0; }
  std::span<const tailrace_extent> pieces() const { return pieces_; }
  uint64_t bytes() const {
    uint64_t sum = 0;
    for (const tailrace_extent& piece : pieces_) sum += piece.length;
    return sum;
  }

  static Message make(const RequestHeader& header, std::span<const tailrace_extent> pieces) {
    Message message(sizeof header + pieces.size_bytes());
    std::memcpy(message.data(), &header, sizeof header);
    if (!pieces.empty()) std::memcpy(message.data() + sizeof header, pieces.data(), pieces.size_bytes());
    return message;
  }

 private:
  RequestHeader header_;
  std::vector<tailrace_extent> pieces_;
};

struct ReplyHeader {
  uint64_t bytes = 0;  // that are there, and follow; the file ends behind them if they are fewer than asked for
  int64_t error = 0;
};

// Cuts what a process asks of one aggregator into requests.
class Requests {
 public:
  Requests(const OwnPlaces& own, const Stream& stream, uint64_t range_bytes)
      : own_(&own),
        stream_(stream),
        range_bytes_(range_bytes),
        at_(own.below(stream.begin)),
        end_(own.below(stream.end)) {}

  // The bytes of the process's data that a request asks for.
  struct Asked {
    uint64_t begin = 0;
    uint64_t length = 0;
  };

  uint32_t aggregator() const { return stream_.aggregator; }
  bool has_ended() const { return ended_; }
  // Returns the next request, and sets what it asks for. Only a first one may ask for nothing.
  Message next(Asked& asked) {
    RequestHeader header;
    std::vector<tailrace_extent> pieces;
    asked = {at_, 0};
    if (at_ < end_) {
      own_->find(at_, 1, pieces);
      header.range = (pieces[0].offset - stream_.begin) / range_bytes_;
      const uint64_t limit = own_->below(stream_.begin + (header.range + 1) * range_bytes_);
      asked.length = std::min({limit, end_, at_ + kMostBytes}) - at_;
      pieces.clear();
      own_->find(at_, asked.length, pieces);
      at_ += asked.length;
    }
    ended_ = at_ == end_;
    header.pieces = pieces.size();
    header.is_last = ended_ ? 1 : 0;
    return Request::make(header, pieces);
  }

 private:
  static constexpr uint64_t kMostBytes = uint64_t{256} << 10;  // of a reply

  const OwnPlaces* own_;
  Stream stream_;
  uint64_t range_bytes_;
  uint64_t at_;  // in the process's data
  uint64_t end_;
  bool ended_ = false;
};

}  // namespace tailrace::collective
