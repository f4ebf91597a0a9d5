// Reach: finds a forwarder that answers, among those that OnLoss allows. It has patience once for all calls: if no
// forwarder has answered for that time, each further call tries all of them once.
//
// It makes links, and neither calls nor files. One thread, the engine's.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/log.hpp"
#include "base/sync/task.hpp"
#include "storage/remote/forwarders/waits.hpp"

namespace tailrace::impl {

// Where the files of a lost forwarder go: to the next one, to this node itself, or nowhere.
enum class OnLoss : uint8_t { next, direct, fail };

class Reach {
 public:
  // Has forwarders that are leaving end their transfers of this node's files, and leaves them. Returns true if there
  // are any.
  using LetEnd = std::function<Task<bool>()>;

  // Borrows the first three.
  Reach(ForwarderSet& forwarders, Waits& waits, Log& log, OnLoss on_loss, LetEnd let_leaving_end)
      : forwarders_(forwarders),
        waits_(waits),
        log_(log),
        on_loss_(on_loss),
        let_leaving_end_(std::move(let_leaving_end)) {}

  // Returns a forwarder that has a link: the one at home, or else, if that is allowed, another one; none: no
  // forwarder can be reached.
  Task<std::optional<size_t>> anyone(size_t home);
  // Tries to reach a forwarder whose link was lost, until it can be reached, or is over. Returns true if it has a
  // link.
  Task<bool> or_outlast(size_t forwarder);
  // Returns how long which forwarders were tried in vain; empty: one has answered since.
  const std::string& in_vain() const { return in_vain_; }

  // Counts the tries of a call that loses forwarders. It is given up after kTries of them and some time: forwarders
  // that a supervisor starts again and again may be lost at once, and one of them may last a little later.
  class Perseverance {
   public:
    Perseverance(ForwarderSet& forwarders, Waits& waits);
    // Returns true if the call is to be tried, or tried again; after the first tries, waits before that.
    Task<bool> goes_on();

   private:
    ForwarderSet& forwarders_;
    Waits& waits_;
    const Nanoseconds until_;
    size_t tries_ = 0;
  };
  Perseverance perseverance() { return Perseverance(forwarders_, waits_); }

  static constexpr size_t kTries = 16;  // forwarders that are lost in the middle of one call, before time counts
  static constexpr Nanoseconds kBetween = std::chrono::milliseconds(200);

 private:
  // A forwarder that did not answer when it was tried last.
  struct Silence {
    Nanoseconds until{0};  // it is left alone
    std::string why;
  };

  Task<Status> once(size_t forwarder);
  Task<bool> again(size_t forwarder);
  Task<std::optional<size_t>> from(size_t home);
  bool is_silent(size_t forwarder) const;
  void give_up(Nanoseconds after);

  ForwarderSet& forwarders_;
  Waits& waits_;
  Log& log_;
  const OnLoss on_loss_;
  const LetEnd let_leaving_end_;
  std::set<size_t> complained_;  // forwarders whose loss the log has, and which have not answered since
  std::map<size_t, Silence> silent_;
  std::string in_vain_;
};

}  // namespace tailrace::impl
