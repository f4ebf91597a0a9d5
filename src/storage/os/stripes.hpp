// Reads the stripe maps of files, as parallel file systems report them: Lustre in an extended attribute, BeeGFS by an
// ioctl.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "model/stored_file.hpp"

namespace tailrace::impl {

// Returns the stripe map of an open file. If the file system reports none, the file lies on the server `otherwise`.
StripeMap stripes_of(int fd, uint32_t otherwise);

// Reads the value of Lustre's attribute `lustre.lov`. Returns none unless it describes a striped file (RAID 0,
// versions 1 and 3). A composite layout has several maps in one file and is not supported.
std::optional<StripeMap> lustre_stripes(std::span<const std::byte> value);

}  // namespace tailrace::impl
