// StudyForwarder: a forwarder of the study. The engine, the scheduler and the book-keeping of memory are the real
// ones; links, files and the processor's time are simulated.
//
// As src/forward/forwarder.hpp, it gives memory to its clients' messages in turn, and fetches the data of a write
// when there is memory for them. A message is one request here. It looks at what has come whenever its processor is
// free, at all of it together, as the real one does.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/engine.hpp"
#include "forward/forward_memory.hpp"
#include "lab/inside/forward_study/client_request.hpp"
#include "lab/inside/forward_study/study_storage.hpp"

namespace tailrace::impl::study {

class StudyForwarder final : public RequestTaker, private CompletionSink {
 public:
  // Borrows all of them. `memory`: it is never touched, so that forwarders may have the same.
  StudyForwarder(EventQueue& events, ParallelFileSystem& files, Scheduler& scheduler, const Parameters& parameters,
                 std::span<std::byte> memory);

  void send(const ClientRequest& request) override;

  // The most since the last look.
  struct Peaks {
    size_t waiting = 0;  // messages without memory
    uint64_t held = 0;   // bytes
  };
  Peaks take_peaks();
  uint64_t memory_size() const { return memory_.size(); }
  Engine::Counts counts() const { return engine_.counts(); }

 private:
  struct Client {
    std::deque<ClientRequest> waiting;  // bounded by what the client may have under way
    uint64_t held = 0;                  // bytes
    bool is_active() const { return held > 0 || !waiting.empty(); }
  };
  // A message that has memory, until the answer has left.
  struct Work {
    ClientRequest request;
    ForwardMemory::Part memory;
  };

  void ended(const Request& request, const Status& status) override;
  void arrive(const ClientRequest& request);
  void wake(Nanoseconds time);
  void step();
  bool admit_waiting();
  bool admit(uint32_t name);
  void fetch(uint32_t work);
  void submit(uint32_t work);
  void answer(uint32_t work);
  void release(uint32_t work);
  FileId open(uint32_t file);
  void note_peaks();

  EventQueue& events_;
  const ForwarderParameters parameters_;
  NetworkLink in_;
  NetworkLink out_;
  StudyStorage storage_;
  Engine engine_;
  ForwardMemory memory_;
  std::unordered_map<uint32_t, Client> clients_;
  std::unordered_map<uint32_t, FileId> files_;  // by number
  std::deque<uint32_t> turn_;                   // clients with messages that wait, the next one first
  std::vector<Work> works_;                     // bounded by what the memory can hold
  std::vector<uint32_t> free_works_;
  std::vector<uint32_t> ready_;     // works whose data are here
  std::vector<uint32_t> answered_;  // works that have ended
  size_t active_ = 0;               // clients that hold memory or wait for some
  size_t waiting_ = 0;              // messages
  bool may_admit_ = false;          // something came, or became free, since no message could be given memory
  uint64_t arrived_ = 0;            // messages since the last step
  std::optional<Nanoseconds> wakes_at_;
  Nanoseconds free_at_{0};  // when the processor has done what it has begun
  Peaks peaks_;
};

}  // namespace tailrace::impl::study
