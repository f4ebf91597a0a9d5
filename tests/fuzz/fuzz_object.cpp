// The heads of objects of striped files. The first byte says what the rest is: bytes as they are (even), or a head
// whose checksum is made right (odd), so that the fuzzer gets past it.
//
// Properties: a head is refused with a message in one line; or its layout is one that the arithmetic can undo, its id
// is safe as a part of a name, and it is written as it was read. A file with such a head is opened and measured, or
// refused, whatever it says about others.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "base/sync/doorbell.hpp"
#include "storage/memory/memory_storage.hpp"
#include "storage/striped/striped_file_system.hpp"
#include "target.hpp"
#include "testing/forwarding_file_system.hpp"

namespace {

using namespace tailrace::impl;  // NOLINT: it is their test

std::vector<std::byte> with_checksum(std::vector<std::byte> bytes) {
  if (bytes.size() < kObjectHeadBytes) return bytes;
  ObjectWire wire;
  std::memcpy(&wire, bytes.data(), sizeof wire);
  wire.magic = kObjectMagic;
  wire.checksum = 0;
  wire.checksum = fnv1a(std::as_bytes(std::span(&wire, 1)));
  std::memcpy(bytes.data(), &wire, sizeof wire);
  return bytes;
}

void check_head(const ObjectHead& head) {
  TAILRACE_REQUIRE(head.id.find('/') == std::string::npos && !head.id.empty());
  TAILRACE_REQUIRE(head.directories.size() == head.count);
  const auto again = decode_object_head(encode_object_head(head), "again");
  TAILRACE_REQUIRE(again.ok() && again.value() && again.value()->is_same_file(head));
  TAILRACE_REQUIRE(again.value()->index == head.index && again.value()->directories == head.directories);
  const StripeLayout layout = head.layout();
  for (uint64_t offset = 1; offset < uint64_t{1} << 50; offset = offset * 7 + 3) {
    const uint32_t object = layout.object_of(offset);
    TAILRACE_REQUIRE(object < head.count);
    TAILRACE_REQUIRE(layout.in_file(object, layout.in_object(object, offset)) == offset);
  }
}

void open_file_of(const std::vector<std::byte>& bytes) {
  Doorbell doorbell;
  MemoryStorage disk(doorbell);
  const FileHandle made = disk.files().open("/d0/file", OpenMode::create, 0).value().file;
  iovec segment{const_cast<std::byte*>(bytes.data()), bytes.size()};
  disk.submit({Transfer::Kind::write, false, made, 0, std::span(&segment, 1), 0});
  // Borrows the disk, which the file system would own.
  class Borrowed final : public ForwardingFileSystem {
    using ForwardingFileSystem::ForwardingFileSystem;
  };
  StripedFileSystem files(std::make_unique<Borrowed>(disk.files()));
  const Result<NameFacts> facts = files.stat("/d0/file");
  const Result<Opened> opened = files.open("/d0/file", OpenMode::edit, 0);
  if (!opened.ok()) return TAILRACE_REQUIRE(!opened.status().fault().message.empty());
  TAILRACE_REQUIRE(facts.ok());
  TAILRACE_REQUIRE(files.size(opened.value().file).value() == facts.value().size);
  files.close(opened.value().file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto input = std::as_bytes(std::span(data, size));
  std::vector<std::byte> bytes(input.begin() + 1, input.end());
  if (data[0] % 2 == 1) bytes = with_checksum(std::move(bytes));
  const auto head = decode_object_head(bytes, "file");
  if (!head.ok()) tailrace::fuzz::require_readable(head.status().fault().message);
  if (head.ok() && head.value()) check_head(*head.value());
  open_file_of(bytes);
  return 0;
}
