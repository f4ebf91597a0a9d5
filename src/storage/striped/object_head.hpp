// ObjectHead: the description that each object of a striped file carries, as values. It says to which file the object
// belongs, so that objects of different files are never mixed.
//
// Pure functions between it and its bytes (object_wire.hpp). It trusts no byte that it reads.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "storage/striped/object_wire.hpp"
#include "storage/striped/stripe_layout.hpp"

namespace tailrace::impl {

struct ObjectHead {
  uint64_t unit = 0;
  uint32_t count = 0;
  uint32_t index = 0;
  uint32_t first = 0;
  std::string id;
  std::vector<std::string> directories;  // of all objects

  StripeLayout layout() const { return {unit, count, first, kObjectHeadBytes}; }
  // Returns true if both are of one file, whichever of its objects they describe.
  bool is_same_file(const ObjectHead& other) const;
};

// FNV-1a, 64 bits: finds damage, not forgery.
uint64_t fnv1a(std::span<const std::byte> bytes);

// Returns why a head cannot have these directories; ok if it can.
Status check_object_directories(const std::vector<std::string>& directories);
// Requires that the head can be encoded.
std::vector<std::byte> encode_object_head(const ObjectHead& head);
// Reads the head from the first bytes of a file. Returns none if it is not an object of a striped file. Fails with
// EIO if it is a damaged one, or of a later version; `path` is for the message.
Result<std::optional<ObjectHead>> decode_object_head(std::span<const std::byte> bytes, const std::string& path);

// Returns the path of an object other than 0 in the directory of its device.
std::string object_path(const std::string& directory, const std::string& id, uint32_t index);

// Returns the failure of `operation` on the striped file `path`, with a message that is complete by itself.
Status striped_fault(const char* operation, const std::string& path, int error, std::string message);

}  // namespace tailrace::impl
