#include "shared_file.hpp"

#include "error.hpp"

namespace texture {

SharedFile::SharedFile(const std::string& name, int mode) : name_(name) {
  check(MPI_File_open(MPI_COMM_WORLD, name.c_str(), mode, MPI_INFO_NULL, &file_), "MPI_File_open");
}

SharedFile::~SharedFile() {
  if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
}

void SharedFile::check(int code, const char* call) const {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error("'" + name_ + "': " + call + ": " + text);
}

void SharedFile::close() { check(MPI_File_close(&file_), "MPI_File_close"); }

}  // namespace texture
