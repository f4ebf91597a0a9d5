// left_open DIRECTORY: the end of HDF5 in a program that has closed nothing itself, while chunks are being filtered.
// HDF5 closes files last, and none while a dataset is still in use. Then the program starts HDF5 again, and all data
// must be there.
#include <hdf5.h>
#include <stdio.h>

#include "check.h"

enum { kChunks = 8, kNumbers = 1 << 17 };

static double numbers[kChunks * kNumbers];

static double number(size_t at) { return (double)(at * 7919 % 1009); }

static void write_and_leave(const char* path) {
  const hsize_t shape[2] = {kChunks, kNumbers};
  const hsize_t chunk[2] = {1, kNumbers};
  for (size_t at = 0; at < kChunks * kNumbers; ++at) numbers[at] = number(at);
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(2, shape, NULL);
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  // It takes longer than everything else.
  CHECK(H5Pset_chunk(properties, 2, chunk) >= 0 && H5Pset_deflate(properties, 9) >= 0);
  const hid_t data = H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  CHECK(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0);
  CHECK(H5Dclose(data) >= 0);
}

static void read_again(const char* path) {
  const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t data = H5Dopen2(file, "x", H5P_DEFAULT);
  CHECK(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0);
  for (size_t at = 0; at < kChunks * kNumbers; ++at) CHECK(numbers[at] == number(at));
  CHECK(H5Dclose(data) >= 0 && H5Fclose(file) >= 0);
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  char path[4096];
  snprintf(path, sizeof path, "%s/left_open.h5", argv[1]);
  write_and_leave(path);
  CHECK(H5close() >= 0);
  read_again(path);
  return 0;
}
