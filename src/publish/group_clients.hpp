// GroupClients: the clients that write the files of a group, those that have left, and those that never came. Plain
// book-keeping.
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
  bool written = false;  // it had blocks to publish
  Status status;         // why it was not published, or could not be removed
  Request::Course course;
};

// A client of a group of files.
class GroupMember {
 public:
  virtual ~GroupMember() = default;
  virtual int client() const = 0;
  // Reports that the iteration, which this member has ended or dropped, has left.
  virtual void left(int64_t iteration, const Departure& how) = 0;
  // Reports that another member has dropped the iteration, or that it has left without this one.
  virtual void gone(int64_t iteration) = 0;
  // Reports a failure that belongs to none of the client's verbs.
  virtual void tell(const Status& failure) = 0;
};

class GroupClients {
 public:
  // Orders members by their clients, so that results do not depend on memory addresses.
  struct ByClient {
    bool operator()(const GroupMember* one, const GroupMember* other) const {
      return one->client() != other->client() ? one->client() < other->client() : one < other;
    }
  };
  using Members = std::set<GroupMember*, ByClient>;

  // The clients that have ended an iteration.
  struct Enders {
    Members here;
    std::set<int> gone;  // clients that have left since

    bool any() const { return !here.empty() || !gone.empty(); }
  };

  // `expected`: how many clients end every iteration.
  explicit GroupClients(uint32_t expected) : expected_(expected) {}

  void join(GroupMember& member);
  // Note that the client has left, here or under an earlier server.
  void leave(GroupMember& member);
  void note_gone(int client) { gone_.insert(client); }
  bool has_gone(int client) const { return gone_.contains(client); }
  // Stops waiting for the clients that have not come. `clients`: their numbers, if known.
  void give_up_absent(std::vector<int> clients);

  const Members& here() const { return here_; }
  uint32_t expected() const { return expected_; }
  uint32_t yet_to_come() const;
  // Returns true if no client is here, and none is still waited for.
  bool all_gone() const { return here_.empty() && gone_.size() + absent_ >= expected_; }
  // Return how many clients never came and are not waited for, and how many of these have no known number.
  uint32_t absent() const { return absent_; }
  uint32_t unnamed() const { return absent_ - static_cast<uint32_t>(absent_numbers_.size()); }

  // Returns true if every client has ended the iteration. A client that has left counts as having ended it, but an
  // iteration that no client has ended is not complete.
  bool complete(const Enders& enders) const;
  // Returns the clients that have gone before they ended the iteration, or that never came.
  std::vector<int> missing(const Enders& enders) const;
  // Returns text that says which clients have ended an iteration, and which are missing.
  std::string describe(const Enders& enders) const;

 private:
  const uint32_t expected_;
  Members here_;
  std::set<int> gone_;
  uint32_t absent_ = 0;
  std::vector<int> absent_numbers_;  // those that are known
};

}  // namespace tailrace::impl
