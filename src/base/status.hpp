// Status and Result: carry the world's faults (a full disk, a wrong file) through tailrace.
//
// A Status is TAILRACE_OK or a Fault that contains all that is known about the error. The codes are those of the C
// ABI, so that there is one list of them. Defects of callers and of tailrace never become a Status: see assert.hpp.
// Copies share the Fault, so that one failure can end many requests.
#pragma once

#include <tailrace/tailrace.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "base/assert.hpp"

namespace tailrace::impl {

struct Fault {
  tailrace_status code = TAILRACE_INTERNAL;
  std::string message;    // complete by itself; names what was found and what was expected
  std::string operation;  // "write", "open", …; empty where it does not apply, like the next two
  std::string file;
  std::string variable;
  int64_t iteration = -1;
  int system_errno = 0;
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  explicit Status(Fault fault) : fault_(std::make_shared<const Fault>(std::move(fault))) {
    TAILRACE_ASSERT(fault_->code != TAILRACE_OK);
  }
  Status(tailrace_status code, std::string message) : Status(Fault{code, std::move(message), {}, {}, {}, -1, 0}) {}

  // Makes the Status of an operating system that refused `operation` on `file` with `system_errno`.
  static Status of_errno(std::string operation, std::string file, int system_errno);

  bool ok() const { return fault_ == nullptr; }
  tailrace_status code() const { return fault_ ? fault_->code : TAILRACE_OK; }
  // Requires !ok().
  const Fault& fault() const {
    TAILRACE_ASSERT(fault_ != nullptr);
    return *fault_;
  }

 private:
  std::shared_ptr<const Fault> fault_;
};

// Result: a value, or the Status that explains why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}        // NOLINT: implicit on purpose
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {  // NOLINT: implicit on purpose
    TAILRACE_ASSERT(!std::get<1>(state_).ok());
  }

  bool ok() const { return state_.index() == 0; }
  Status status() const { return ok() ? Status{} : std::get<1>(state_); }
  // Requires ok().
  T& value() & {
    TAILRACE_ASSERT(ok());
    return std::get<0>(state_);
  }
  const T& value() const& {
    TAILRACE_ASSERT(ok());
    return std::get<0>(state_);
  }
  T&& value() && {
    TAILRACE_ASSERT(ok());
    return std::get<0>(std::move(state_));
  }

 private:
  std::variant<T, Status> state_;
};

}  // namespace tailrace::impl
