// SharedFile: a file that all ranks of MPI_COMM_WORLD have open by MPI-IO. Turns error codes into Error.
#pragma once

#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <string>
#include <vector>

#include "image.hpp"

namespace texture {

class SharedFile {
 public:
  // Opens it; `mode` as for MPI_File_open. Collective. Throws Error.
  SharedFile(const std::string& name, int mode);
  // Closes it if close() was not called; a failure is then lost.
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  MPI_File handle() const { return file_; }
  // Throws Error if `code`, which the call of this name returned, is not MPI_SUCCESS.
  void check(int code, const char* call) const;
  // Shows the program, of an array of float32 that begins at byte `begin` of the file, the pixels of the block. The
  // array has `planes` dimensions of planes, then rows and columns. Collective. Throws Error.
  void view_block(MPI_Offset begin, const std::vector<long>& planes, const ImageShape& shape, const Block& block);
  // Collective. Throws Error.
  void close();

 private:
  const std::string name_;
  MPI_File file_ = MPI_FILE_NULL;
};

}  // namespace texture
