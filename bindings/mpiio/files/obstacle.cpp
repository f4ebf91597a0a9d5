#include "mpiio/files/obstacle.hpp"

#include <cstdio>
#include <mutex>
#include <set>
#include <utility>

#include "mpiio/process/process.hpp"

namespace tailrace::mpiio {
namespace {

const char* text_of(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::hdf5: return "the connector for HDF5 carries its data";
    case Obstacle::sequential: return "it is open with MPI_MODE_SEQUENTIAL";
    case Obstacle::kind: return "its name has a colon, by which an MPI knows the kind of a file system";
    case Obstacle::not_regular: return "it is no regular file";
    case Obstacle::not_opened: return "it could not be opened once more";
    case Obstacle::representation: return "its view has another data representation than native";
    case Obstacle::etype: return "the elementary type of its view is empty, or of an unknown kind";
    case Obstacle::filetype: return "the file type of its view is of an unknown kind";
    case Obstacle::overlap: return "the pieces of its view overlap, or do not ascend";
    case Obstacle::atomic: return "its accesses are atomic";
    default: return nullptr;
  }
}

}  // namespace

void tell_obstacle(const std::string& file, Obstacle obstacle) {
  static std::mutex mutex;
  static std::set<std::pair<std::string, Obstacle>> told;  // guarded by mutex
  const char* const text = text_of(obstacle);
  if (text == nullptr || !carrier().summary()) return;
  const std::lock_guard lock(mutex);
  if (told.emplace(file, obstacle).second) {
    std::fprintf(stderr, "tailrace: %s is not carried: %s\n", file.c_str(), text);
  }
}

}  // namespace tailrace::mpiio
