// threads DIRECTORY: several threads call a thread-safe HDF5 at once, for files of their own and for a common one;
// one thread does if HDF5 is not thread-safe. Each writes and reads contiguous datasets and filtered chunks, flushes,
// deletes, and compares what it reads. At the end, plain HDF5 reads the files.
#include <hdf5.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { kThreads = 4, kRounds = 12, kRows = 8, kNumbers = 8192 };

static const char* directory;
static hid_t common;

static double number(int seed, size_t at) { return (double)((at * 7919 + (size_t)seed * 31) % 1009); }

static hid_t create(hid_t file, const char* name, int filtered) {
  const hsize_t shape[2] = {kRows, kNumbers};
  const hsize_t most[2] = {H5S_UNLIMITED, kNumbers};
  const hsize_t chunk[2] = {1, kNumbers};
  const hid_t space = H5Screate_simple(2, shape, filtered ? most : NULL);
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  if (filtered) {
    CHECK(H5Pset_chunk(properties, 2, chunk) >= 0 && H5Pset_shuffle(properties) >= 0);
    CHECK(H5Pset_deflate(properties, 1) >= 0);
  }
  const hid_t data = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  CHECK(data >= 0 && H5Pclose(properties) >= 0 && H5Sclose(space) >= 0);
  return data;
}

// Writes the rows from the first on, one by one.
static void write_rows(hid_t data, int seed, double* numbers) {
  const hsize_t count[2] = {1, kNumbers};
  const hid_t memory = H5Screate_simple(2, count, NULL);
  const hid_t space = H5Dget_space(data);
  for (hsize_t row = 0; row < kRows; ++row) {
    const hsize_t begin[2] = {row, 0};
    for (size_t at = 0; at < kNumbers; ++at) numbers[at] = number(seed, row * kNumbers + at);
    CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, NULL, count, NULL) >= 0);
    CHECK(H5Dwrite(data, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, numbers) >= 0);
  }
  CHECK(H5Sclose(space) >= 0 && H5Sclose(memory) >= 0);
}

static void compare(hid_t data, int seed, double* numbers) {
  CHECK(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0);
  for (size_t at = 0; at < kRows * kNumbers; ++at) CHECK(numbers[at] == number(seed, at));
}

static void use(hid_t file, int thread, int round, int filtered, double* numbers) {
  char name[64];
  const int seed = thread * kRounds + round;
  snprintf(name, sizeof name, "%s%d_%d", filtered ? "chunks" : "plain", thread, round);
  const hid_t data = create(file, name, filtered);
  write_rows(data, seed, numbers);
  compare(data, seed, numbers);
  if (round % 3 == 0) CHECK(H5Fflush(file, H5F_SCOPE_LOCAL) >= 0);
  write_rows(data, seed, numbers);
  CHECK(H5Dclose(data) >= 0);
  if (round % 4 == 1) CHECK(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
}

// A failure that HDF5 reports to this thread alone.
static void fail(hid_t file) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  CHECK(H5Dopen2(file, "missing", H5P_DEFAULT) < 0);
  CHECK(H5Eget_num(H5E_DEFAULT) > 0);
}

static void* work(void* pointer) {
  const int thread = (int)(size_t)pointer;
  double* const numbers = malloc(sizeof *numbers * kRows * kNumbers);
  for (int round = 0; round < kRounds; ++round) {
    char path[4096];
    snprintf(path, sizeof path, "%s/own%d.h5", directory, thread);
    const unsigned mode = round == 0 ? H5F_ACC_TRUNC : H5F_ACC_RDWR;
    const hid_t own = round == 0 ? H5Fcreate(path, mode, H5P_DEFAULT, H5P_DEFAULT) : H5Fopen(path, mode, H5P_DEFAULT);
    CHECK(own >= 0);
    for (int filtered = 0; filtered < 2; ++filtered) {
      use(own, thread, round, filtered, numbers);
      use(common, thread, round, filtered, numbers);
    }
    fail(own);
    CHECK(H5Fclose(own) >= 0);
  }
  free(numbers);
  return NULL;
}

// Opens the file with the native connector.
static void look(const char* name, int first, int last, double* numbers) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  CHECK(H5Pset_vol(access, H5VL_NATIVE, NULL) >= 0);
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, access);
  for (int thread = first; thread < last; ++thread) {
    for (int round = 0; round < kRounds; ++round) {
      for (int filtered = 0; filtered < 2; ++filtered) {
        char found[64];
        snprintf(found, sizeof found, "%s%d_%d", filtered ? "chunks" : "plain", thread, round);
        CHECK(H5Lexists(file, found, H5P_DEFAULT) == (round % 4 != 1));
        if (round % 4 == 1) continue;
        const hid_t data = H5Dopen2(file, found, H5P_DEFAULT);
        compare(data, thread * kRounds + round, numbers);
        CHECK(H5Dclose(data) >= 0);
      }
    }
  }
  CHECK(H5Fclose(file) >= 0 && H5Pclose(access) >= 0);
}

int main(int argc, char** argv) {
  bool safe = false;
  CHECK(argc == 2 && H5is_library_threadsafe(&safe) >= 0);
  const int count = safe ? kThreads : 1;
  directory = argv[1];
  char path[4096];
  snprintf(path, sizeof path, "%s/common.h5", directory);
  common = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  pthread_t threads[kThreads];
  for (size_t thread = 0; thread < (size_t)count; ++thread) {
    CHECK(pthread_create(&threads[thread], NULL, work, (void*)thread) == 0);
  }
  for (int thread = 0; thread < count; ++thread) CHECK(pthread_join(threads[thread], NULL) == 0);
  CHECK(H5Fclose(common) >= 0);
  double* const numbers = malloc(sizeof *numbers * kRows * kNumbers);
  for (int thread = 0; thread < count; ++thread) {
    char own[64];
    snprintf(own, sizeof own, "own%d.h5", thread);
    look(own, thread, thread + 1, numbers);
  }
  look("common.h5", 0, count, numbers);
  free(numbers);
  printf("%d threads found all\n", count);
  return 0;
}
