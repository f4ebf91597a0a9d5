// Finds data in shared memory that no server has written yet, and the files they are for.
#pragma once

#include <string>

namespace tailrace::impl {

// Returns the job of place `core` that has data of `writer` ("cm1_c3", "cm1_n0", "cm1_job": as locks are named) for
// files in `directory`; "" if there is none. Looks at this user's jobs on this node.
std::string job_with_data_of(const std::string& directory, const std::string& writer);

}  // namespace tailrace::impl
