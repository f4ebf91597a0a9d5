// A hand-made client of place `core`, for programs that speak as clients do and then misbehave.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/os/unix_socket.hpp"
#include "model/wire/core_wire.hpp"
#include "place/core/segment.hpp"

namespace test {

inline constexpr tailrace::impl::Nanoseconds kAnswer = std::chrono::seconds(60);

struct Attached {
  tailrace::impl::UnixSocket socket;
  tailrace::impl::FileDescriptor bell;
  std::unique_ptr<tailrace::impl::Segment> segment;
  uint64_t block_bytes = 0;
  uint64_t sequence = 0;
  uint32_t opened = 0;        // the latest number of a raw file
  bool cut = false;           // the segment is truncated and cannot be read any more
  uint32_t opened_block = 0;  // the block of that file's opening

  tailrace::impl::Channel& channel() { return segment->channel(); }
  std::span<std::byte> parts() {
    return {segment->pool().data() + segment->pool().size(), tailrace::impl::ChannelMemory(segment->sizes()).bytes()};
  }
};

// Returns a file in memory that contains `text`.
inline tailrace::impl::FileDescriptor file_of(const std::string& text) {
  tailrace::impl::FileDescriptor file(memfd_create("hostile", MFD_CLOEXEC));
  if (!file.is_open() || ::write(file.get(), text.data(), text.size()) < 0) std::exit(1);
  return file;
}

// Reads the server's answer to a greeting; returns nothing if it has refused.
inline std::optional<Attached> welcomed(tailrace::impl::UnixSocket socket, uint64_t block_bytes) {
  using namespace tailrace::impl;
  Welcome welcome;
  Result<Message> answer = socket.receive(std::as_writable_bytes(std::span(&welcome, 1)), 2, kAnswer);
  if (!answer.ok() || welcome.refusal.code != TAILRACE_OK || answer.value().descriptors.size() != 2)
    return std::nullopt;
  const ChannelSizes sizes{welcome.variables, welcome.ring, welcome.tickets, welcome.blocks};
  auto segment = Segment::map(std::move(answer.value().descriptors[0]), sizes, welcome.pool);
  if (!segment.ok()) return std::nullopt;
  return Attached{std::move(socket),
                  std::move(answer.value().descriptors[1]),
                  std::move(segment).value(),
                  block_bytes,
                  0,
                  0,
                  false};
}

}  // namespace test
