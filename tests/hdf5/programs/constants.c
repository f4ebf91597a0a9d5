// constants DIRECTORY: a program that names HDF5's transfer properties, its driver and its types. Linked as usual, it
// has its own copies of those variables, and the library uses the program's.
#include <hdf5.h>
#include <stdio.h>

#include "check.h"

enum { kNumbers = 1 << 17 };

static double numbers[kNumbers];

int main(int argc, char** argv) {
  CHECK(argc == 2);
  char path[4096];
  snprintf(path, sizeof path, "%s/constants.h5", argv[1]);
  const hsize_t length = kNumbers;
  for (size_t at = 0; at < kNumbers; ++at) numbers[at] = (double)at;
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  CHECK(H5Pset_driver(access, H5FD_SEC2, NULL) >= 0);
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hid_t space = H5Screate_simple(1, &length, NULL);
  const hid_t data = H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  for (int i = 0; i < 2; ++i) {
    CHECK(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DATASET_XFER_DEFAULT, numbers) >= 0);
  }
  numbers[7] = 0;
  CHECK(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DATASET_XFER_DEFAULT, numbers) >= 0);
  CHECK(numbers[7] == 7);
  CHECK(H5Dclose(data) >= 0 && H5Fclose(file) >= 0);
  return 0;
}
