// Data in shared memory that no server has written yet: which files they are for.
#pragma once

#include <string>

namespace tailrace::impl {

// The job of place `core` that holds data of `writer` ("cm1_c3", "cm1_n0", "cm1_job": as locks are named) for files
// in `directory`; empty: there is none. Looks at jobs of this user on this node.
std::string job_with_data_of(const std::string& directory, const std::string& writer);

}  // namespace tailrace::impl
