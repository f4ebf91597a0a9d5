// Checks for the two kinds of defects. Both stay on in release.
//
// TAILRACE_REQUIRE(condition) fails if the caller inside tailrace broke a contract. TAILRACE_ASSERT(condition) fails
// if this code is wrong. Either prints the condition and its place and aborts, because going on would risk the user's
// data. Faults of users and of the world are a Status instead and never abort.
#pragma once

namespace tailrace::impl {

[[noreturn]] void defect(const char* kind, const char* condition, const char* file, int line);

}  // namespace tailrace::impl

#define TAILRACE_ASSERT(condition) \
  (static_cast<bool>(condition) ? void(0) : ::tailrace::impl::defect("ASSERT", #condition, __FILE__, __LINE__))
#define TAILRACE_REQUIRE(condition) \
  (static_cast<bool>(condition) ? void(0) : ::tailrace::impl::defect("REQUIRE", #condition, __FILE__, __LINE__))
