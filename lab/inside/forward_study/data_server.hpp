// DataServer: a server of the parallel file system: a link in each direction, a queue, and one disk.
//
// The disk takes requests as they came, or of the first few the next one upwards from its head, as an elevator does.
// Nothing is cached, as in the paper. It knows no files: a request has a position on the disk.
#pragma once

#include <deque>
#include <functional>
#include <utility>

#include "lab/inside/forward_study/disk_model.hpp"
#include "lab/inside/forward_study/event_queue.hpp"
#include "lab/inside/forward_study/network_link.hpp"

namespace tailrace::impl::study {

class DataServer {
 public:
  struct Work {
    bool writes = false;
    uint64_t position = 0;
    uint64_t bytes = 0;
    std::function<void()> ended;  // called when the answer has arrived at the sender
  };

  // Borrows the events.
  DataServer(EventQueue& events, const Parameters& parameters);

  // Sends a request to the server, at once.
  void send(Work work);

  const DiskModel& disk() const { return disk_; }
  // Returns how many requests wait for the disk or are on it.
  size_t queued() const { return queue_.size() + (busy_ ? 1 : 0); }
  // Returns the most since the last call.
  size_t take_peak() { return std::exchange(peak_, queued()); }

 private:
  void begin();
  size_t choose() const;
  void end(Work work);

  EventQueue& events_;
  const ServerParameters parameters_;
  NetworkLink in_;
  NetworkLink out_;
  DiskModel disk_;
  std::deque<Work> queue_;  // bounded by what all senders have under way
  bool busy_ = false;
  size_t peak_ = 0;
};

}  // namespace tailrace::impl::study
