// FailureRecord: a Status on its way from the server to the client, in 1024 bytes.
//
// Fixed width, no pointers: in place `core` it crosses between processes. Texts that are too long are cut at a
// character and end in "…".
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/status.hpp"

namespace tailrace::impl {

struct FailureRecord {
  uint64_t ticket = 0;  // 0: none
  int64_t iteration = -1;
  int32_t code = 0;
  int32_t system_errno = 0;
  // UTF-8, ended by NUL.
  char operation[40] = {};
  char variable[64] = {};
  char file[256] = {};
  char message[640] = {};
};

static_assert(sizeof(FailureRecord) == 1024);
static_assert(offsetof(FailureRecord, operation) == 24);
static_assert(offsetof(FailureRecord, message) == 384);
static_assert(std::is_trivially_copyable_v<FailureRecord>);

FailureRecord to_record(uint64_t ticket, const Status& status);
// Trusts nothing: texts end where their field does, and an unknown code becomes TAILRACE_INTERNAL.
Status to_status(const FailureRecord& record);

}  // namespace tailrace::impl
