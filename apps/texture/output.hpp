// Output: takes the results of the filters, one plane after the other, and writes this rank's block of them.
//
// All planes go into one file of float32, [channel][filter][row][column]. Each rank sees of it its own block of
// all planes (a file view, MPI_Type_create_subarray), and each plane is one collective call of all ranks.
#pragma once

#include <memory>
#include <string>

#include "image.hpp"
#include "tiles.hpp"

namespace texture {

enum class OutputKind { none, blocking, nonblocking };

struct OutputOptions {
  OutputKind kind;
  bool sync_each;  // blocking only: a plane is on the disk when write() returns
  std::string file;
  ImageShape shape;
  long filters;
  Block block;
};

class Output {
 public:
  virtual ~Output() = default;
  // Returns memory for the next plane, rows × columns of the block. Throws Error.
  virtual float* buffer() = 0;
  // Takes the plane that was put into the last buffer(). Throws Error.
  virtual void write() = 0;
  // Gives MPI a call in which it can make progress of what is under way. Throws Error.
  virtual void test() {}
  // Returns when all planes are on the disk. Throws Error.
  virtual void finish() = 0;
};

// none: computes, writes nothing. blocking: MPI_File_write_all. nonblocking: MPI_File_iwrite_at_all from two buffers
// in turn, and MPI_Wait before a buffer is used again. Collective. Throws Error.
std::unique_ptr<Output> make_output(const OutputOptions& options);

}  // namespace texture
