// FailureRecord: carries a Status from the server to the client, in 1024 bytes.
//
// Fixed width, no pointers: in place `core` it crosses between processes. A text that is too long is cut between
// characters and ends in "…".
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/status.hpp"

namespace tailrace::impl {

struct FailureRecord {
  uint64_t ticket = 0;  // 0: no ticket
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
// Trusts no byte of the record: texts end with their field, and an unknown code becomes TAILRACE_INTERNAL.
Status to_status(const FailureRecord& record);

}  // namespace tailrace::impl
