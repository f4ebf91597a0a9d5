// The two kinds of defects. Both checks stay on in release.
//
// TAILRACE_REQUIRE(condition): the caller inside tailrace broke a contract. TAILRACE_ASSERT(condition): this code is
// wrong. Either prints the condition and place and aborts: to go on would risk the user's data. What users and the
// world can do wrong is a Status instead, and never ends here.
#pragma once

namespace tailrace::impl {

[[noreturn]] void defect(const char* kind, const char* condition, const char* file, int line);

}  // namespace tailrace::impl

#define TAILRACE_ASSERT(condition) \
  (static_cast<bool>(condition) ? void(0) : ::tailrace::impl::defect("ASSERT", #condition, __FILE__, __LINE__))
#define TAILRACE_REQUIRE(condition) \
  (static_cast<bool>(condition) ? void(0) : ::tailrace::impl::defect("REQUIRE", #condition, __FILE__, __LINE__))
