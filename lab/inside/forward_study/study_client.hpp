// StudyClient: a process of the simulated program. It makes its requests in order, has a few under way, and pauses a
// little between the end of one and the next.
//
// It moves no data. All clients of a run have the same dice.
#pragma once

#include <functional>

#include "lab/inside/forward_study/client_request.hpp"
#include "testing/dice.hpp"

namespace tailrace::impl::study {

// Returns where request `number` of a client lies.
struct Place {
  uint32_t file = 0;
  Extent extent;
};
Place place_of(const ProgramParameters& program, uint32_t client, uint32_t number);
// Returns how many files the program has, and how long each becomes.
uint32_t files_of(const ProgramParameters& program);
uint64_t size_of_file(const ProgramParameters& program);

class StudyClient final : public RequestMaker {
 public:
  // Borrows all of them. Calls `finished` when its last request has ended.
  StudyClient(EventQueue& events, RequestTaker& taker, const ProgramParameters& program, uint32_t name, Dice& dice,
              std::function<void()> finished);

  // Begins `requests` more requests, `after` from now. All earlier ones have ended.
  void begin(Nanoseconds after, uint32_t requests);
  void ended(const ClientRequest& request) override;

  // Returns how many requests have ended.
  uint32_t done() const { return done_; }
  bool is_busy() const { return done_ < limit_; }
  // Returns when the last answer came, or, if that was before its latest beginning, when that was.
  Nanoseconds quiet_since() const { return quiet_since_; }

 private:
  void issue();

  EventQueue& events_;
  RequestTaker& taker_;
  const ProgramParameters& program_;
  const uint32_t name_;
  Dice& dice_;
  const std::function<void()> finished_;
  uint32_t limit_ = 0;  // requests to make
  uint32_t made_ = 0;
  uint32_t done_ = 0;
  Nanoseconds quiet_since_{0};
};

}  // namespace tailrace::impl::study
