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

void SharedFile::view_block(MPI_Offset begin, const std::vector<long>& planes, const ImageShape& shape,
                            const Block& block) {
  MPI_Datatype pixels = MPI_FLOAT;  // a subarray cannot be empty
  if (block.pixels() > 0) {
    std::vector<int> sizes(planes.begin(), planes.end());
    std::vector<int> part = sizes, first(sizes.size(), 0);
    const auto add = [&](long size, const Share& share) {
      sizes.push_back(static_cast<int>(size));
      part.push_back(static_cast<int>(share.size()));
      first.push_back(static_cast<int>(share.first));
    };
    add(shape.rows, block.rows);
    add(shape.columns, block.columns);
    const int dimensions = static_cast<int>(sizes.size());
    MPI_Type_create_subarray(dimensions, sizes.data(), part.data(), first.data(), MPI_ORDER_C, MPI_FLOAT, &pixels);
    MPI_Type_commit(&pixels);
  }
  check(MPI_File_set_view(file_, begin, MPI_FLOAT, pixels, "native", MPI_INFO_NULL), "MPI_File_set_view");
  if (pixels != MPI_FLOAT) MPI_Type_free(&pixels);
}

void SharedFile::close() { check(MPI_File_close(&file_), "MPI_File_close"); }

}  // namespace texture
