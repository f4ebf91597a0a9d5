// Completes a file that several nodes have written, and that all of them have left before it was whole.
#pragma once

#include <functional>
#include <string>

#include "base/status.hpp"
#include "format/image/iteration_image.hpp"

namespace tailrace::impl {

// Writes the bytes that complete the unfinished file, and waits for them. The file must not be striped.
Status complete_joint(const std::string& unfinished, const FileEnding& ending);

// The port, so that the simulator can write to its own disk.
using CompleteJoint = std::function<Status(const std::string& unfinished, const FileEnding& ending)>;

}  // namespace tailrace::impl
