#include "mpiio/files/obstacle.hpp"

#include <cstdio>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "mpiio/process/process.hpp"

namespace tailrace::mpiio {
namespace {

const char* text_of(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::hdf5: return "HDF5 has opened it, and its connector carries the data";
    case Obstacle::sequential: return "it is open with MPI_MODE_SEQUENTIAL";
    case Obstacle::kind: return "its name has a colon, by which an MPI knows the kind of a file system";
    case Obstacle::not_regular: return "it is not a regular file";
    case Obstacle::not_opened: return "it could not be opened once more";
    case Obstacle::renamed: return "its name leads to another file already";
    case Obstacle::representation: return "its view has another data representation than native";
    case Obstacle::etype: return "the elementary type of its view is empty, or of an unknown kind";
    case Obstacle::filetype: return "the file type of its view is of an unknown kind";
    case Obstacle::overlap: return "the pieces of its view overlap, or do not ascend";
    case Obstacle::atomic: return "its accesses are atomic";
    default: return nullptr;
  }
}

}  // namespace

void tell_obstacle(const std::string& file, Obstacle obstacle, int error) {
  static std::mutex mutex;
  static std::set<std::pair<std::string, Obstacle>> told;  // guarded by mutex
  const char* const text = text_of(obstacle);
  if (text == nullptr || !carrier().summary()) return;
  const std::lock_guard lock(mutex);
  if (told.emplace(file, obstacle).second) {
    const std::string why = error != 0 ? ": " + std::generic_category().message(error) : "";
    std::fprintf(stderr, "tailrace: %s is not carried: %s%s\n", file.c_str(), text, why.c_str());
  }
}

}  // namespace tailrace::mpiio
