// Parts of the cases of parallel.c: files that all ranks have open, and parts of a matrix, one for each rank.
#ifndef TAILRACE_TESTS_HDF5_RANKS_H
#define TAILRACE_TESTS_HDF5_RANKS_H

#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define CHECK(condition)                                                         \
  do {                                                                           \
    if (!(condition)) {                                                          \
      fprintf(stderr, "rank %d, line %d: not %s\n", rank, __LINE__, #condition); \
      H5Eprint2(H5E_DEFAULT, stderr);                                            \
      MPI_Abort(MPI_COMM_WORLD, 1);                                              \
    }                                                                            \
  } while (0)

enum { kRanks = 4, kRows = 64, kColumns = 512 };

static const char* directory;
static int rank;
static double block[kRows * kColumns];  // the memory of a call

static double value(hsize_t row, hsize_t column) { return (double)(row * kColumns + column) + 0.5; }

// ---- files and datasets -----------------------------------------------------------------------------------------

static hid_t access_of(MPI_Comm ranks) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  CHECK(H5Pset_fapl_mpio(access, ranks, MPI_INFO_NULL) >= 0);
  return access;
}

static const char* path_of(const char* name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s.h5", directory, name);
  return path;
}

static hid_t create_file(const char* name) {
  const hid_t access = access_of(MPI_COMM_WORLD);
  const hid_t file = H5Fcreate(path_of(name), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  CHECK(file >= 0);
  H5Pclose(access);
  return file;
}

static hid_t open_file(const char* name) {
  const hid_t access = access_of(MPI_COMM_WORLD);
  const hid_t file = H5Fopen(path_of(name), H5F_ACC_RDWR, access);
  CHECK(file >= 0);
  H5Pclose(access);
  return file;
}

static hid_t whole_space(void) {
  const hsize_t shape[2] = {kRows, kColumns};
  return H5Screate_simple(2, shape, NULL);
}

static hid_t create_like(hid_t file, const char* name, hid_t type, hid_t properties) {
  const hid_t space = whole_space();
  const hid_t data = H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  CHECK(data >= 0);
  H5Sclose(space);
  return data;
}

static hid_t create(hid_t file, const char* name) { return create_like(file, name, H5T_IEEE_F64LE, H5P_DEFAULT); }

static hid_t transfer_of(H5FD_mpio_xfer_t mode) {
  const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
  CHECK(H5Pset_dxpl_mpio(transfer, mode) >= 0);
  return transfer;
}

// ---- parts of a dataset, each rank its own ----------------------------------------------------------------------

typedef struct {
  hsize_t begin[2], step[2], count[2];
} Part;

static Part rows_of(int of) {
  return (Part){{(hsize_t)of * (kRows / kRanks), 0}, {1, 1}, {kRows / kRanks, kColumns}};
}

static Part tile_of(int of) {
  return (Part){{of / 2 * (kRows / 2), of % 2 * (kColumns / 2)}, {1, 1}, {kRows / 2, kColumns / 2}};
}

static Part columns_of(int of) { return (Part){{0, (hsize_t)of}, {1, kRanks}, {kRows, kColumns / kRanks}}; }

static hid_t select_part(Part part) {
  const hid_t space = whole_space();
  CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, part.begin, part.step, part.count, NULL) >= 0);
  return space;
}

static void make_values(Part part, double added) {
  for (hsize_t i = 0; i < part.count[0]; ++i) {
    for (hsize_t j = 0; j < part.count[1]; ++j) {
      block[i * part.count[1] + j] =
          value(part.begin[0] + i * part.step[0], part.begin[1] + j * part.step[1]) + added;
    }
  }
}

static herr_t try_to_write(hid_t data, Part part, double added, H5FD_mpio_xfer_t mode) {
  make_values(part, added);
  const hid_t in_memory = H5Screate_simple(2, part.count, NULL);
  const hid_t in_file = select_part(part);
  const hid_t transfer = transfer_of(mode);
  const herr_t written = H5Dwrite(data, H5T_NATIVE_DOUBLE, in_memory, in_file, transfer, block);
  memset(block, 0x55, sizeof block);  // the program may use it again
  H5Pclose(transfer);
  H5Sclose(in_file);
  H5Sclose(in_memory);
  return written;
}

static void write_part(hid_t data, Part part, double added, H5FD_mpio_xfer_t mode) {
  CHECK(try_to_write(data, part, added, mode) >= 0);
}

static void check_part(hid_t data, Part part, double added, H5FD_mpio_xfer_t mode) {
  static double read[kRows * kColumns];
  memset(read, 0x77, sizeof read);
  const hid_t in_memory = H5Screate_simple(2, part.count, NULL);
  const hid_t in_file = select_part(part);
  const hid_t transfer = transfer_of(mode);
  CHECK(H5Dread(data, H5T_NATIVE_DOUBLE, in_memory, in_file, transfer, read) >= 0);
  make_values(part, added);
  CHECK(memcmp(read, block, part.count[0] * part.count[1] * sizeof *read) == 0);
  H5Pclose(transfer);
  H5Sclose(in_file);
  H5Sclose(in_memory);
}

#endif
