// Finds what a killed program of OpenFOAM has left in its case: times and files that are not complete.
//
// tailrace makes a time directory as `NAME.partial`, and so a file of a time that has its name. In a decomposed case
// each process gives its part the name by itself, so the latest times may lack a part; OpenFOAM cannot start from
// these.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

namespace tailrace::impl {

// The kind of what was left, as messages name it.
namespace left_in_case {
constexpr const char* kTime = "incomplete time";
constexpr const char* kFile = "incomplete file";
constexpr const char* kPart = "part of a time";  // others lack the time, for a reason that they do not show
constexpr const char* kInUse = "in use";         // a program is writing to the case
}  // namespace left_in_case

struct LeftInCase {
  std::string path;  // below the case
  std::string kind;
  bool done = false;     // it was removed
  std::string reason{};  // why it is left alone
  std::string failure{};
};

// Removes a file, or a directory and everything in it.
using Remove = std::function<void(const std::filesystem::path&, std::error_code&)>;
// Tells that the part of a time that has its name is about to be removed, since `unfinished` has not completed it.
using TellRemoval = std::function<void(const std::filesystem::path& part, const std::string& unfinished)>;

bool is_openfoam_case(const std::filesystem::path& directory);

// Returns what is not complete, and removes it if `remove` is given. Throws std::filesystem::filesystem_error if the
// case cannot be read.
std::vector<LeftInCase> left_in_openfoam_case(const std::filesystem::path& directory, const Remove& remove,
                                              const TellRemoval& tell);

}  // namespace tailrace::impl
