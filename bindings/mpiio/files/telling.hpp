// before_telling: runs before each call of MPI by which another process may learn that this one has got so far.
#pragma once

namespace tailrace::mpiio {

inline void before_telling() {}

}  // namespace tailrace::mpiio
