// Leftover: the unfinished file of an iteration, which a run that ended too early has left.
//
// A `.part` that is complete (it has its superblock, which is written last) only needs its rename; any other lacks
// bytes. A name that is not a regular file of this user is reported and left alone (base/os/own_file.hpp).
//
// If several nodes wrote the file, their parts are beside it (format/hdf5/joint_file.hpp): if all are there, only the
// metadata are missing, and are made.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "runtime/output/complete_joint.hpp"
#include "runtime/output/output_directories.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl {

struct Leftover {
  std::string file;
  tailrace_leftover kind = TAILRACE_INCOMPLETE;
  bool done = false;  // it was published or removed
  Status status;      // why it could not be
};

// Returns the name of the file beside which an XDMF file lies: "run_It3.xmf" → "run_It3.h5".
std::string file_of_xdmf(std::string_view xdmf);

// Returns the node that may still write its part of an unfinished file; none if no node may.
using AwaitedNode = std::function<std::optional<NodeOfFiles>(const std::string& file)>;

// Publishes or removes one unfinished file in `directory`; if `apply` is false, only looks. A file that lacks the
// part of a node that may still write it is left alone. Other nodes may treat the file meanwhile. REQUIRES: no
// other process writes it.
Leftover treat_part(FileSystem& files, const std::string& file, const std::string& directory, bool apply,
                    const AwaitedNode& awaited, const CompleteJoint& complete = complete_joint);

// Removes what nodes have left beside unfinished files that are not there any more, of those whose final names
// `wanted` returns true for. Calls `each` for them.
void treat_parts_of_nodes(FileSystem& files, const std::string& directory, bool apply,
                          const std::function<bool(std::string_view)>& wanted,
                          const std::function<void(const Leftover&)>& each);

}  // namespace tailrace::impl
