// Obstacle: why a file is not carried, or a view of it.
#pragma once

#include <cstdint>
#include <string>

namespace tailrace::mpiio {

enum class Obstacle : uint32_t {
  none,
  settings,  // they are wrong, which is reported elsewhere
  hdf5,      // of the file; so are the next ones
  sequential,
  kind,
  not_regular,
  not_opened,
  renamed,
  representation,  // of the view
  etype,
  filetype,
  overlap,
  atomic,
};

// Says on standard error that the file is not carried, and why, if the settings ask for a summary: once each.
// `error`: the errno of Obstacle::not_opened.
void tell_obstacle(const std::string& file, Obstacle obstacle, int error = 0);

}  // namespace tailrace::mpiio
