// Signals: the messages by which clients tell dedicated cores of events, and that they have stopped; and those by
// which dedicated cores tell each other of clients that have died.
#pragma once

#include <cstdint>
#include <list>

#include "damaris/ranks/events.hpp"
#include "damaris/ranks/ranks.hpp"

namespace tailrace::damaris {

// Sends this client's messages. Never waits for a receiver longer than a limit.
class Signals {
 public:
  explicit Signals(const Ranks& ranks) : ranks_(ranks) {}
  ~Signals() { settle(0); }

  // Tells the servers that have to know.
  void raise(const Events& events, size_t event, int64_t iteration);
  // Tells them that this client has stopped, or could not start, and waits until they have been told, for `seconds`
  // at most.
  void stop(const Events& events, bool started, double seconds);

 private:
  struct Sent {
    int32_t words[4];
    MPI_Request request;
  };
  void send(int rank, int32_t kind, int32_t event, int32_t iteration);
  void settle(double seconds);

  const Ranks& ranks_;
  std::list<Sent> under_way_;
};

// Runs actions on a dedicated rank until all clients that it hears from have stopped or died. Returns false if they
// could not start.
bool listen(Events& events, const Ranks& ranks);

}  // namespace tailrace::damaris
