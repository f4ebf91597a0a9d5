// Data where they lie in the file, past HDF5; and space that has been another dataset's.
#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "program.hpp"

namespace tailrace::test {
namespace {

// Bytes behind the end of the file are zeros: they were never written.
std::vector<std::byte> bytes_at(const std::string& path, haddr_t at, size_t length) {
  std::vector<std::byte> bytes(length);
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  CHECK(file >= 0);
  CHECK(::pread(file, bytes.data(), length, static_cast<off_t>(at)) >= 0);
  CHECK(::close(file) == 0);
  return bytes;
}

}  // namespace

void compare_in_file(hid_t dataset, const Model& model) {
  if (std::getenv("HDF5_VOL_CONNECTOR") == nullptr) return;
  const haddr_t at = H5Dget_offset(dataset);
  if (H5Dget_storage_size(dataset) == 0) return;  // behind a user block, HDF5 still says something
  const Id type{H5Dget_type(dataset), H5Tclose};
  const MemoryType& wanted = memory_type_of(model.family, 0);
  std::vector<std::byte> bytes = bytes_at(model.file, at, H5Tget_size(type.get()) * model.numbers.size());
  bytes.resize(std::max(bytes.size(), wanted.size * model.numbers.size()));
  std::vector<std::byte> background(bytes.size());  // for compound types
  CHECK(H5Tconvert(type.get(), wanted.id, model.numbers.size(), bytes.data(), background.data(), H5P_DEFAULT) >= 0);
  for (size_t element = 0; element < model.numbers.size(); ++element) {
    const int expected = model.numbers[element];
    CHECK(expected == kUnknown || wanted.get(bytes.data() + element * wanted.size) == expected);
  }
}

void write_text(hid_t file, size_t count) {
  const std::string text(8 * count, 'x');
  const Id type{H5Tcopy(H5T_C_S1), H5Tclose};
  CHECK(H5Tset_size(type.get(), 8) >= 0);
  const Id space = space_of({count});
  const Id data{H5Dcreate2(file, "text", type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose};
  CHECK(H5Dwrite(data.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) >= 0);
  CHECK(H5Fflush(file, H5F_SCOPE_LOCAL) >= 0);
  std::string found(text.size(), ' ');
  CHECK(H5Dread(data.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()) >= 0);
  CHECK(found == text);
  CHECK(H5Ldelete(file, "text", H5P_DEFAULT) >= 0);
}

void write_for_readers(const std::string& path, Dice& dice) {
  const Id access{H5Pcreate(H5P_FILE_ACCESS), H5Pclose};
  CHECK(H5Pset_libver_bounds(access.get(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) >= 0);
  std::vector<Model> models(3);
  {
    const Id file{create_file(path, access.get()), H5Fclose};
    std::vector<Id> data;
    const auto write = [&](size_t which) {
      Transfer transfer(models[which], dice);
      CHECK(H5Dwrite(data[which].get(), transfer.type(), transfer.memory_space(), transfer.file_space(), H5P_DEFAULT,
                     transfer.data()) >= 0);
      transfer.write_to(models[which]);
    };
    for (size_t which = 0; which < models.size(); ++which) {
      models[which].file = path;
      models[which].name = "data" + std::to_string(which);
      data.push_back(create_dataset(file.get(), models[which], dice));
      write(which);
    }
    CHECK(H5Fstart_swmr_write(file.get()) >= 0);
    for (int turn = 0; turn < 8; ++turn) {
      const size_t which = dice.below(models.size());
      write(which);
      if (dice.chance(30)) CHECK(H5Dflush(data[which].get()) >= 0);
      if (dice.chance(50)) compare_whole(data[which].get(), models[which]);
    }
  }
  const Id file{H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
  for (const Model& model : models) {
    const Id data{H5Dopen2(file.get(), model.name.c_str(), H5P_DEFAULT), H5Dclose};
    compare_whole(data.get(), model);
  }
}

}  // namespace tailrace::test
