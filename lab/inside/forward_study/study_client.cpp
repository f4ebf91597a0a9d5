#include "lab/inside/forward_study/study_client.hpp"

#include <algorithm>
#include <utility>

namespace tailrace::impl::study {

Place place_of(const ProgramParameters& program, uint32_t client, uint32_t number) {
  switch (program.pattern) {
    case Pattern::strided: return {0, {(uint64_t{number} * program.clients + client) * program.bytes, program.bytes}};
    case Pattern::contiguous:
      return {0, {(uint64_t{client} * program.requests + number) * program.bytes, program.bytes}};
    case Pattern::files: return {client, {uint64_t{number} * program.bytes, program.bytes}};
  }
  TAILRACE_ASSERT(false);
}

uint32_t files_of(const ProgramParameters& program) {
  return program.pattern == Pattern::files ? program.clients : 1;
}

uint64_t size_of_file(const ProgramParameters& program) {
  return program.bytes * program.requests * (program.pattern == Pattern::files ? 1 : program.clients);
}

StudyClient::StudyClient(EventQueue& events, RequestTaker& taker, const ProgramParameters& program, uint32_t name,
                         Dice& dice, std::function<void()> finished)
    : events_(events), taker_(taker), program_(program), name_(name), dice_(dice), finished_(std::move(finished)) {}

void StudyClient::begin(Nanoseconds after, uint32_t requests) {
  TAILRACE_REQUIRE(!is_busy());
  limit_ += requests;
  quiet_since_ = events_.now() + after;
  TAILRACE_REQUIRE(limit_ <= program_.requests);
  for (uint32_t i = 0; i < std::min(program_.under_way, requests); ++i) {
    events_.at(events_.now() + after, [this] { issue(); });
  }
}

void StudyClient::issue() {
  if (made_ == limit_) return;
  const Place place = place_of(program_, name_, made_++);
  taker_.send({this, name_, program_.writes, place.file, place.extent});
}

void StudyClient::ended(const ClientRequest&) {
  ++done_;
  quiet_since_ = events_.now();
  if (!is_busy()) return finished_();
  if (made_ == limit_) return;
  const auto most = static_cast<uint64_t>(2 * program_.think.count());
  const Nanoseconds pause(static_cast<Nanoseconds::rep>(dice_.below(most + 1)));
  events_.at(events_.now() + pause, [this] { issue(); });
}

}  // namespace tailrace::impl::study
