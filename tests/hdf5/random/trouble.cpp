// Trouble in or beside a program: a full disk, and children that it forks.
#include <sys/resource.h>
#include <sys/wait.h>

#include <cstdlib>
#include <cstring>

#include "program.hpp"

namespace tailrace::test {
namespace {

constexpr rlim_t kLimit = 100000;   // bytes of any file
constexpr hsize_t kBeyond = 60000;  // numbers, of 8 bytes

void limit_files(rlim_t bytes) {
  rlimit limit{};
  CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  limit.rlim_cur = bytes;
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

}  // namespace

// The child leaves the parent's open files alone, and what HDF5 would do at exit.
void write_in_child(const std::string& path, uint64_t seed) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    Dice dice(seed);
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(file >= 0);
    for (int i = 0; i < 3; ++i) {
      Model model;
      model.file = path;
      model.name = "data" + std::to_string(i);
      const Id data = create_dataset(file, model, dice);
      for (int write = 0; write < 3; ++write) {
        Transfer transfer(model, dice);
        CHECK(H5Dwrite(data.get(), transfer.type(), transfer.memory_space(), transfer.file_space(),
                       transfer.properties(), transfer.data()) >= 0);
        transfer.write_to(model);
        Transfer back(model, dice);
        back.scribble();
        CHECK(H5Dread(data.get(), back.type(), back.memory_space(), back.file_space(), back.properties(),
                      back.data()) >= 0);
        back.compare(model);
      }
    }
    CHECK(H5Fclose(file) >= 0);
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  const Id whole{H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
}

void write_beyond_limit(const std::string& path, Dice& dice) {
  const hid_t file = create_file(path);
  const Id space = space_of({kBeyond});
  const hid_t data = H5Dcreate2(file, "data", H5T_IEEE_F64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  CHECK(file >= 0 && data >= 0);
  const Id first = space_of({kBeyond});
  const hsize_t at = 0;
  CHECK(H5Sselect_elements(first.get(), H5S_SELECT_SET, 1, &at) >= 0);
  std::vector<double> numbers(kBeyond, 1.0);
  // The memory that the connector takes with its first write exceeds the limit, too.
  CHECK(H5Dwrite(data, H5T_NATIVE_DOUBLE, first.get(), first.get(), H5P_DEFAULT, numbers.data()) >= 0);
  CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  limit_files(kLimit);
  bool failed = H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()) < 0;
  numbers.assign(kBeyond, 0.0);
  if (dice.chance(50)) failed |= H5Fflush(file, H5F_SCOPE_GLOBAL) < 0;
  if (dice.chance(50)) failed |= H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()) < 0;
  limit_files(RLIM_INFINITY);
  // HDF5 closes a dataset or file again at the process's end if that failed.
  failed |= H5Dclose(data) < 0;
  failed |= H5Fclose(file) < 0;
  if (failed) return;
  const hid_t opened = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (opened < 0) {  // its close did not wait, and the failure is reported now
    const char* const connector = std::getenv("HDF5_VOL_CONNECTOR");
    CHECK(connector != nullptr && std::strstr(connector, "close=detach") != nullptr);
    return;
  }
  const Id again{opened, H5Fclose};
  const Id there{H5Dopen2(again.get(), "data", H5P_DEFAULT), H5Dclose};
  CHECK(H5Dread(there.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()) >= 0);
  for (const double number : numbers) CHECK(number == 1.0);
}

}  // namespace tailrace::test
