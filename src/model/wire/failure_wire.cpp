#include "model/wire/failure_wire.hpp"

#include <cstring>
#include <string>
#include <string_view>

namespace tailrace::impl {
namespace {

constexpr std::string_view kCut = "…";

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0u) == 0x80u; }

template <size_t N>
void put(char (&field)[N], std::string_view text) {
  if (text.size() < N) {
    std::memcpy(field, text.data(), text.size());
    return;
  }
  size_t length = N - 1 - kCut.size();
  while (length > 0 && continues_character(text[length])) --length;
  std::memcpy(field, text.data(), length);
  std::memcpy(field + length, kCut.data(), kCut.size());
}

template <size_t N>
std::string get(const char (&field)[N]) {
  return {field, strnlen(field, N)};
}

}  // namespace

FailureRecord to_record(uint64_t ticket, const Status& status) {
  const Fault& fault = status.fault();
  FailureRecord record;
  record.ticket = ticket;
  record.iteration = fault.iteration;
  record.code = fault.code;
  record.system_errno = fault.system_errno;
  put(record.operation, fault.operation);
  put(record.variable, fault.variable);
  put(record.file, fault.file);
  put(record.message, fault.message);
  return record;
}

Status to_status(const FailureRecord& record) {
  Fault fault;
  const bool known = record.code > TAILRACE_OK && record.code <= TAILRACE_INTERNAL;
  fault.code = known ? static_cast<tailrace_status>(record.code) : TAILRACE_INTERNAL;
  fault.message = get(record.message);
  fault.operation = get(record.operation);
  fault.file = get(record.file);
  fault.variable = get(record.variable);
  fault.iteration = record.iteration;
  fault.system_errno = record.system_errno;
  return Status(std::move(fault));
}

}  // namespace tailrace::impl
