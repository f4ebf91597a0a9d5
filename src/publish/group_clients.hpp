// GroupClients: who writes the files of a group, who has left, and who never came. Plain book-keeping.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "model/request.hpp"

namespace tailrace::impl {

// How an iteration left its group.
struct Departure {
  bool dropped = false;
  bool written = false;  // there was something to publish
  Status status;         // why it was not published, or could not be removed
  Request::Course course;
};

// A client of a group of files.
class GroupMember {
 public:
  virtual ~GroupMember() = default;
  virtual int client() const = 0;
  // The iteration, which this member has ended or dropped, has left.
  virtual void left(int64_t iteration, const Departure& how) = 0;
  // Another member has dropped the iteration, or it has left without this one.
  virtual void gone(int64_t iteration) = 0;
  // Something has failed that none of its verbs asked for.
  virtual void tell(const Status& failure) = 0;
};

class GroupClients {
 public:
  // By their clients, so that what happens does not depend on where they lie in memory.
  struct ByClient {
    bool operator()(const GroupMember* one, const GroupMember* other) const {
      return one->client() != other->client() ? one->client() < other->client() : one < other;
    }
  };
  using Members = std::set<GroupMember*, ByClient>;

  // The clients that have ended an iteration.
  struct Enders {
    Members here;
    std::set<int> gone;  // that have left since

    bool any() const { return !here.empty() || !gone.empty(); }
  };

  // `expected`: how many clients end every iteration.
  explicit GroupClients(uint32_t expected) : expected_(expected) {}

  void join(GroupMember& member);
  // The client has left, here or in the time of an earlier server.
  void leave(GroupMember& member);
  void note_gone(int client) { gone_.insert(client); }
  // Those that have yet to come are not waited for any more. `clients`: their numbers, where these are known.
  void give_up_absent(std::vector<int> clients);

  const Members& here() const { return here_; }
  uint32_t expected() const { return expected_; }
  uint32_t yet_to_come() const;
  // Returns true if nobody is here, and nobody has yet to come.
  bool all_gone() const { return here_.empty() && gone_.size() + absent_ >= expected_; }
  // Clients that never came and are not waited for, and how many of them have no known number.
  uint32_t absent() const { return absent_; }
  uint32_t unnamed() const { return absent_ - static_cast<uint32_t>(absent_numbers_.size()); }

  // Returns true if every client has ended the iteration. A client that has left counts as one that has ended it; but
  // an iteration that no client has ended is not whole.
  bool complete(const Enders& enders) const;
  // Returns the clients that have gone before they ended the iteration, or never came.
  std::vector<int> missing(const Enders& enders) const;
  // Says by whom an iteration was ended, and without whom.
  std::string describe(const Enders& enders) const;

 private:
  const uint32_t expected_;
  Members here_;
  std::set<int> gone_;
  uint32_t absent_ = 0;
  std::vector<int> absent_numbers_;  // as far as they are known
};

}  // namespace tailrace::impl
