#include "lab/inside/forward_study/study_forwarder.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace tailrace::impl::study {
namespace {

constexpr uint32_t kMostParts = 16384;  // messages that have memory at once, as of the real forwarder

uint32_t parts_of(const Parameters& parameters) {
  const uint64_t fit = parameters.forwarders.memory / parameters.program.bytes + 1;
  return static_cast<uint32_t>(std::min<uint64_t>(fit, kMostParts));
}

}  // namespace

StudyForwarder::StudyForwarder(EventQueue& events, ParallelFileSystem& files, Scheduler& scheduler,
                               const Parameters& parameters, std::span<std::byte> memory)
    : events_(events),
      parameters_(parameters.forwarders),
      in_(parameters.network),
      out_(parameters.network),
      storage_(files, parameters.forwarders.depth, [this] { wake(events_.now()); }),
      engine_(storage_, scheduler, events.clock(), EngineOptions{}),
      memory_(memory, parts_of(parameters)) {}

void StudyForwarder::send(const ClientRequest& request) {
  events_.at(in_.pass(events_.now(), 0), [this, request] { arrive(request); });
}

void StudyForwarder::arrive(const ClientRequest& request) {
  Client& client = clients_[request.client];
  if (!client.is_active()) ++active_;
  if (client.waiting.empty()) turn_.push_back(request.client);
  client.waiting.push_back(request);
  ++waiting_;
  ++arrived_;
  may_admit_ = true;
  note_peaks();
  wake(events_.now());
}

// Has step() called at `time`, or when the processor is free.
void StudyForwarder::wake(Nanoseconds time) {
  time = std::max({time, free_at_, events_.now()});
  if (wakes_at_ && *wakes_at_ <= time) return;
  wakes_at_ = time;
  events_.at(time, [this, time] {
    if (wakes_at_ == time) step();
  });
}

void StudyForwarder::step() {
  wakes_at_.reset();
  free_at_ = events_.now() + static_cast<Nanoseconds::rep>(std::exchange(arrived_, 0)) * parameters_.message;
  do {
    for (const uint32_t work : std::exchange(ready_, {})) submit(work);
    engine_.progress();
    for (const uint32_t work : std::exchange(answered_, {})) answer(work);
  } while (admit_waiting());
  const std::optional<Nanoseconds> due = engine_.due();
  TAILRACE_ASSERT(!due || *due > events_.now());
  if (due) wake(*due);
}

// Gives memory to messages that wait, a message of each client in turn. Returns true if there was some for any.
bool StudyForwarder::admit_waiting() {
  if (!std::exchange(may_admit_, false)) return false;
  bool any = false;
  size_t refused = 0;  // in succession
  while (refused < turn_.size()) {
    const uint32_t name = turn_.front();
    turn_.pop_front();
    if (admit(name)) {
      any = true;
      refused = 0;
    } else {
      ++refused;
    }
    if (!clients_.at(name).waiting.empty()) turn_.push_back(name);
  }
  return any;
}

bool StudyForwarder::admit(uint32_t name) {
  Client& client = clients_.at(name);
  const ClientRequest& request = client.waiting.front();
  if (engine_.room() == 0 || !memory_.may_take(client.held, request.extent.length, active_ - 1)) return false;
  const std::optional<ForwardMemory::Part> part = memory_.take(request.extent.length);
  if (!part) return false;
  if (free_works_.empty()) {
    free_works_.push_back(static_cast<uint32_t>(works_.size()));
    works_.emplace_back();
  }
  const uint32_t work = free_works_.back();
  free_works_.pop_back();
  works_[work] = {request, *part};
  client.held += request.extent.length;
  client.waiting.pop_front();
  --waiting_;
  note_peaks();
  fetch(work);
  return true;
}

// Gets the data of a write, which the client sends when it is asked for them.
void StudyForwarder::fetch(uint32_t work) {
  const ClientRequest& request = works_[work].request;
  if (!request.writes) return ready_.push_back(work);
  const Nanoseconds asked = out_.pass(events_.now(), 0);
  events_.at(in_.pass(asked, request.extent.length), [this, work] {
    ready_.push_back(work);
    wake(events_.now());
  });
}

void StudyForwarder::submit(uint32_t work) {
  const ClientRequest& from = works_[work].request;
  Request request;
  request.operation = from.writes ? Operation::write : Operation::read;
  request.file = open(from.file);
  request.pieces.push_back({from.extent, works_[work].memory.bytes.data()});
  request.client = from.client;
  request.sink = this;
  request.token = work;
  engine_.submit(std::move(request));
}

FileId StudyForwarder::open(uint32_t file) {
  const auto [found, is_new] = files_.try_emplace(file);
  if (is_new) found->second = engine_.open(std::to_string(file), OpenMode::update, 0, "");
  return found->second;
}

void StudyForwarder::ended(const Request& request, const Status& status) {
  TAILRACE_ASSERT(status.ok());
  answered_.push_back(static_cast<uint32_t>(request.token));
}

// Sends the answer. The memory of a write is free at once, that of a read when its data have arrived.
void StudyForwarder::answer(uint32_t work) {
  const ClientRequest request = works_[work].request;
  const Nanoseconds there = out_.pass(events_.now(), request.writes ? 0 : request.extent.length);
  if (request.writes) release(work);
  events_.at(there, [this, work, request] {
    if (!request.writes) release(work);
    request.maker->ended(request);
  });
}

void StudyForwarder::release(uint32_t work) {
  Client& client = clients_.at(works_[work].request.client);
  client.held -= works_[work].request.extent.length;
  if (!client.is_active()) --active_;
  memory_.give_back(works_[work].memory);
  free_works_.push_back(work);
  may_admit_ = true;
  if (waiting_ > 0) wake(events_.now());
}

void StudyForwarder::note_peaks() {
  TAILRACE_ASSERT(memory_.held() <= memory_.size());
  peaks_.waiting = std::max(peaks_.waiting, waiting_);
  peaks_.held = std::max(peaks_.held, memory_.held());
}

StudyForwarder::Peaks StudyForwarder::take_peaks() { return std::exchange(peaks_, {waiting_, memory_.held()}); }

}  // namespace tailrace::impl::study
