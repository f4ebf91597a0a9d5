// A parallel HDF5 program as users write it, with the mistakes that are possible when its data take another way:
//
//   mpiexec -n 4 parallel DIRECTORY CASE…
//
// Each case leaves DIRECTORY/CASE.h5, which must be the same with and without the connector, and checks what each
// rank reads meanwhile. Rank 0 prints the name of each case that succeeded; the first check that fails ends all
// ranks. It uses MPI as any program may: MPI_Init, and no threads.
#include <hdf5.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "ranks.h"

static void write_both_ways(const char* name, Part part) {
  const hid_t file = create_file(name);
  const hid_t one = create(file, "collective");
  const hid_t other = create(file, "independent");
  write_part(one, part, 0, H5FD_MPIO_COLLECTIVE);
  write_part(other, part, 1000, H5FD_MPIO_INDEPENDENT);
  check_part(other, part, 1000, H5FD_MPIO_INDEPENDENT);  // its own, perhaps from memory
  check_part(one, part, 0, H5FD_MPIO_COLLECTIVE);
  H5Dclose(one);
  H5Dclose(other);
  CHECK(H5Fclose(file) >= 0);
}

// ---- the cases --------------------------------------------------------------------------------------------------

static void rows(void) { write_both_ways("rows", rows_of(rank)); }
static void tiles(void) { write_both_ways("tiles", tile_of(rank)); }
static void columns(void) { write_both_ways("columns", columns_of(rank)); }

// One rank has another type in memory; the others must not wait for it, whether or not its data can be carried. HDF5
// 2.2.0 itself hangs when only some ranks convert in a collective call.
static void conversion(void) {
  const hid_t file = create_file("conversion");
  const hid_t data = create(file, "numbers");
  const Part part = rows_of(rank);
  const hid_t in_memory = H5Screate_simple(2, part.count, NULL);
  const hid_t in_file = select_part(part);
  const hid_t transfer =
      transfer_of(getenv("HDF5_VOL_CONNECTOR") != NULL ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
  static float single[kRows * kColumns];
  make_values(part, 0);
  for (size_t i = 0; i < part.count[0] * part.count[1]; ++i) single[i] = (float)block[i];
  CHECK(H5Dwrite(data, rank == 1 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE, in_memory, in_file, transfer,
                 rank == 1 ? (void*)single : block) >= 0);
  check_part(data, part, 0, H5FD_MPIO_INDEPENDENT);

  // A conversion of pairs, which HDF5 itself does.
  typedef struct {
    double left, right;
  } Pair;
  const hid_t pair = H5Tcreate(H5T_COMPOUND, sizeof(Pair));
  const hid_t turned = H5Tcreate(H5T_COMPOUND, sizeof(Pair));
  CHECK(H5Tinsert(pair, "left", 0, H5T_NATIVE_DOUBLE) >= 0 && H5Tinsert(pair, "right", 8, H5T_NATIVE_DOUBLE) >= 0);
  CHECK(H5Tinsert(turned, "right", 0, H5T_NATIVE_DOUBLE) >= 0 &&
        H5Tinsert(turned, "left", 8, H5T_NATIVE_DOUBLE) >= 0);
  const hid_t pairs = create_like(file, "pairs", pair, H5P_DEFAULT);
  static Pair values[kRows * kColumns];
  for (size_t i = 0; i < part.count[0] * part.count[1]; ++i) values[i] = (Pair){block[i], -block[i]};
  for (int i = 0; i < 2; ++i) {
    CHECK(H5Dwrite(pairs, i == rank ? turned : pair, in_memory, in_file, transfer, values) >= 0);
  }
  H5Pclose(transfer);
  H5Sclose(in_file);
  H5Sclose(in_memory);
  H5Tclose(turned);
  H5Tclose(pair);
  H5Dclose(pairs);
  H5Dclose(data);
  CHECK(H5Fclose(file) >= 0);
}

// Ranks without anything to write or read take part nevertheless.
static void nothing(void) {
  const hid_t file = create_file("nothing");
  const hid_t data = create(file, "most");
  const hid_t transfer = transfer_of(H5FD_MPIO_COLLECTIVE);
  for (int who = 2; who < kRanks; ++who) {
    const Part part = rows_of(rank);
    const hid_t in_memory = H5Screate_simple(2, part.count, NULL);
    const hid_t in_file = select_part(part);
    if (who == rank) CHECK(H5Sselect_none(in_memory) >= 0 && H5Sselect_none(in_file) >= 0);
    make_values(part, who);
    CHECK(H5Dwrite(data, H5T_NATIVE_DOUBLE, in_memory, in_file, transfer, who == rank ? NULL : block) >= 0);
    CHECK(H5Dread(data, H5T_NATIVE_DOUBLE, in_memory, in_file, transfer, who == rank ? NULL : block) >= 0);
    H5Sclose(in_file);
    H5Sclose(in_memory);
  }
  const hid_t one = create(file, "by one rank");
  if (rank == 2) {
    for (int i = 0; i < kRanks; ++i) write_part(one, rows_of(i), 7, H5FD_MPIO_INDEPENDENT);
  }
  H5Pclose(transfer);
  H5Dclose(one);
  H5Dclose(data);
  CHECK(H5Fclose(file) >= 0);
}

static herr_t find_words(unsigned number, const H5E_error2_t* error, void* found) {
  (void)number;
  if (strstr(error->desc, "different number of elements") != NULL) *(int*)found = 1;
  return 0;
}

// A wrong call is refused in HDF5's own words.
static void wrong(void) {
  const hid_t file = create_file("wrong");
  const hid_t data = create(file, "data");
  const hsize_t one = 1;
  const hid_t little = H5Screate_simple(1, &one, NULL);
  const hid_t transfer = transfer_of(H5FD_MPIO_COLLECTIVE);
  int found = 0;
  CHECK(H5Dwrite(data, H5T_NATIVE_DOUBLE, little, H5S_ALL, transfer, block) < 0);
  CHECK(H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, find_words, &found) >= 0 && found);
  write_part(data, rows_of(rank), 0, H5FD_MPIO_COLLECTIVE);
  H5Pclose(transfer);
  H5Sclose(little);
  H5Dclose(data);
  CHECK(H5Fclose(file) >= 0);
}

// HDF5 writes them, by all ranks together; between writes that bypass it.
static void chunks(void) {
  const hid_t file = create_file("chunks");
  const hid_t filtered = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t shape[2] = {kRows / kRanks, kColumns / 4};
  CHECK(H5Pset_chunk(filtered, 2, shape) >= 0);
  const hid_t plain = H5Pcopy(filtered);
  CHECK(H5Pset_shuffle(filtered) >= 0 && H5Pset_deflate(filtered, 1) >= 0);
  const hid_t one = create_like(file, "filtered", H5T_IEEE_F64LE, filtered);
  const hid_t shared = create_like(file, "filtered, of several ranks", H5T_IEEE_F64LE, filtered);
  const hid_t other = create_like(file, "plain", H5T_IEEE_F32LE, plain);
  const hid_t contiguous = create(file, "contiguous");
  write_part(one, rows_of(rank), 0, H5FD_MPIO_COLLECTIVE);
  write_part(contiguous, rows_of(rank), 1, H5FD_MPIO_INDEPENDENT);
  write_part(shared, columns_of(rank), 2, H5FD_MPIO_COLLECTIVE);
  CHECK(H5Fflush(file, H5F_SCOPE_LOCAL) >= 0);
  MPI_Barrier(MPI_COMM_WORLD);  // another rank writes to the same bytes next
  write_part(contiguous, columns_of(rank), 3, H5FD_MPIO_COLLECTIVE);
  write_part(other, tile_of(rank), 4, H5FD_MPIO_INDEPENDENT);
  check_part(one, rows_of((rank + 1) % kRanks), 0, H5FD_MPIO_COLLECTIVE);
  H5Pclose(plain);
  H5Pclose(filtered);
  H5Dclose(one);
  H5Dclose(shared);
  H5Dclose(other);
  H5Dclose(contiguous);
  CHECK(H5Fclose(file) >= 0);
}

static void fills(void) {
  const hid_t file = create_file("fills");
  const hid_t filled = H5Pcreate(H5P_DATASET_CREATE);
  const double element = -1;
  CHECK(H5Pset_fill_value(filled, H5T_NATIVE_DOUBLE, &element) >= 0);
  const hid_t none = create_like(file, "never written", H5T_IEEE_F64LE, filled);
  const hid_t some = create_like(file, "one row of each rank", H5T_IEEE_F64LE, filled);
  const hid_t whole = create_like(file, "whole", H5T_IEEE_F64LE, filled);
  Part row = rows_of(rank);
  row.count[0] = 1;
  write_part(some, row, 0, H5FD_MPIO_INDEPENDENT);
  write_part(whole, rows_of(rank), 0, H5FD_MPIO_COLLECTIVE);
  static double read[kRows * kColumns];
  CHECK(H5Dread(some, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, read) >= 0);
  const hsize_t below = (row.begin[0] + 1) * kColumns;
  CHECK(read[below - 1] == value(row.begin[0], kColumns - 1) && read[below] == -1);
  H5Pclose(filled);
  H5Dclose(none);
  H5Dclose(some);
  H5Dclose(whole);
  CHECK(H5Fclose(file) >= 0);
}

// All ranks see each other's writes after a flush and a barrier, and at once by collective reads.
static void across(void) {
  const hid_t file = create_file("across");
  const hid_t data = create(file, "data");
  const int next = (rank + 1) % kRanks;
  for (int i = 0; i < 2; ++i) {
    write_part(data, columns_of(rank), i, H5FD_MPIO_INDEPENDENT);
    check_part(data, columns_of(rank), i, H5FD_MPIO_INDEPENDENT);
    CHECK(H5Fflush(file, H5F_SCOPE_LOCAL) >= 0);
    MPI_Barrier(MPI_COMM_WORLD);
    check_part(data, columns_of(next), i, H5FD_MPIO_INDEPENDENT);
    MPI_Barrier(MPI_COMM_WORLD);
    write_part(data, tile_of(rank), i + 10, H5FD_MPIO_COLLECTIVE);
    check_part(data, tile_of(next), i + 10, H5FD_MPIO_COLLECTIVE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  H5Dclose(data);
  CHECK(H5Fclose(file) >= 0);
}

// Two files of all ranks and one of each, at once; then opened again, with the parts distributed differently.
static void files(void) {
  const hid_t one = create_file("files");
  const hid_t other = create_file("files_other");
  const hid_t access = access_of(MPI_COMM_SELF);
  char name[32];
  snprintf(name, sizeof name, "files_%d", rank);
  const hid_t own = H5Fcreate(path_of(name), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  CHECK(own >= 0);
  const hid_t in[3] = {create(one, "data"), create(other, "data"), create(own, "data")};
  write_part(in[0], rows_of(rank), 0, H5FD_MPIO_COLLECTIVE);
  write_part(in[1], columns_of(rank), 1, H5FD_MPIO_COLLECTIVE);
  for (int i = 0; i <= rank; ++i) write_part(in[2], rows_of(i), rank, H5FD_MPIO_COLLECTIVE);
  H5Dclose(in[2]);
  CHECK(H5Fclose(own) >= 0);
  H5Dclose(in[0]);
  H5Dclose(in[1]);
  CHECK(H5Fclose(one) >= 0);
  CHECK(H5Fclose(other) >= 0);
  H5Pclose(access);

  const hid_t again = open_file("files");
  const hid_t data = H5Oopen(again, "data", H5P_DEFAULT);
  check_part(data, tile_of(rank), 0, H5FD_MPIO_INDEPENDENT);
  MPI_Barrier(MPI_COMM_WORLD);
  write_part(data, tile_of(rank), 2, H5FD_MPIO_COLLECTIVE);
  H5Oclose(data);
  CHECK(H5Fclose(again) >= 0);
}

static void put_attribute(hid_t object, int number) {
  const hid_t space = H5Screate(H5S_SCALAR);
  char name[32];
  snprintf(name, sizeof name, "attribute %d", number);
  const hid_t attribute = H5Acreate2(object, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
  CHECK(attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_INT, &number) >= 0);
  H5Aclose(attribute);
  H5Sclose(space);
}

static void attributes(void) {
  const hid_t file = create_file("attributes");
  for (int i = 0; i < 2; ++i) {
    char name[32];
    snprintf(name, sizeof name, "group %d", i);
    const hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t data = create(group, "data");
    write_part(data, tile_of(rank), i, i % 2 == 0 ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
    for (int j = 0; j < 6; ++j) put_attribute(j % 2 == 0 ? data : group, j);
    H5Dclose(data);
    H5Gclose(group);
  }
  CHECK(H5Fclose(file) >= 0);
}

// Several datasets in one call: one rank must leave one of them to HDF5, and HDF5 writes some by all ranks together.
static void several(void) {
  const hid_t file = create_file("several");
  const hid_t chunked = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t shape[2] = {kRows / kRanks, kColumns};
  CHECK(H5Pset_chunk(chunked, 2, shape) >= 0 && H5Pset_deflate(chunked, 1) >= 0);
  hid_t data[4] = {create(file, "a"), create_like(file, "b", H5T_IEEE_F64LE, chunked), create(file, "c"),
                   create_like(file, "d", H5T_IEEE_F64LE, chunked)};
  const Part part = rows_of(rank);
  const hid_t in_memory = H5Screate_simple(2, part.count, NULL);
  const hid_t in_file = select_part(part);
  hid_t types[4], memory[4], places[4];
  const void* from[4];
  hid_t transfer = transfer_of(H5FD_MPIO_COLLECTIVE);
  CHECK(H5Pset_dataset_io_hyperslab_selection(transfer, 2, H5S_SELECT_SET, part.begin, NULL, part.count, NULL) >= 0);
  make_values(part, 0);
  for (int i = 0; i < 4; ++i) {
    types[i] = H5T_NATIVE_DOUBLE;
    memory[i] = in_memory;
    places[i] = in_file;
    from[i] = block;
  }
  if (rank == 3) places[0] = H5S_PLIST;
  for (int i = 0; i < 2; ++i) CHECK(H5Dwrite_multi(4, data, types, memory, places, transfer, from) >= 0);
  static double read[4][kRows * kColumns];
  void* to[4] = {read[0], read[1], read[2], read[3]};
  CHECK(H5Dread_multi(4, data, types, memory, places, transfer, to) >= 0);
  for (int i = 0; i < 4; ++i) {
    CHECK(memcmp(read[i], block, part.count[0] * part.count[1] * sizeof(double)) == 0);
    H5Dclose(data[i]);
  }
  H5Pclose(transfer);
  H5Sclose(in_file);
  H5Sclose(in_memory);
  H5Pclose(chunked);
  CHECK(H5Fclose(file) >= 0);
}

// Free space is reused at once, by the first rank that comes; and a copy contains what was written.
static void reuse(void) {
  const hid_t file = create_file("reuse");
  for (int i = 0; i < 3; ++i) {
    const hid_t data = create(file, "data");
    for (int j = 0; j < 2; ++j) write_part(data, columns_of(rank), i, H5FD_MPIO_COLLECTIVE);
    H5Dclose(data);
    if (i == 2) break;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(H5Ldelete(file, "data", H5P_DEFAULT) >= 0);
    const hid_t next = create(file, "next");
    write_part(next, columns_of((rank + i) % kRanks), -i, H5FD_MPIO_INDEPENDENT);
    H5Dclose(next);
    // The copy reads what the others wrote.
    CHECK(H5Fflush(file, H5F_SCOPE_LOCAL) >= 0);
    MPI_Barrier(MPI_COMM_WORLD);
    char name[32];
    snprintf(name, sizeof name, "copy %d", i);
    CHECK(H5Ocopy(file, "next", file, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    CHECK(H5Ldelete(file, "next", H5P_DEFAULT) >= 0);
  }
  CHECK(H5Fclose(file) >= 0);
}

// Writes a dataset in a group that has no name, or has lost it. The group ends after it, with its space.
static void write_in_nameless_group(hid_t file, bool loses_it, int i) {
  const hid_t group = loses_it ? H5Gcreate2(file, "lost", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                               : H5Gcreate_anon(file, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t data = create(group, "data");
  if (loses_it) CHECK(H5Ldelete(file, "lost", H5P_DEFAULT) >= 0);
  for (int j = 0; j < 2; ++j) write_part(data, columns_of(rank), i, H5FD_MPIO_COLLECTIVE);
  MPI_Barrier(MPI_COMM_WORLD);
  H5Dclose(data);
  CHECK(H5Gclose(group) >= 0);
}

// Writes datasets that never had a name, or that lose it while they are open, and gives their space to others.
static void nameless(void) {
  const hid_t file = create_file("nameless");
  for (int i = 3; i < 7; ++i) {
    write_in_nameless_group(file, i % 2 == 0, i);
    char name[32];
    snprintf(name, sizeof name, "kept %d", i);
    const hid_t kept = create(file, name);
    write_part(kept, columns_of((rank + i + 1) % kRanks), -i, H5FD_MPIO_INDEPENDENT);
    H5Dclose(kept);
  }
  for (int i = 0; i < 3; ++i) {
    const hid_t space = whole_space();
    const hid_t data =
        i < 2 ? H5Dcreate_anon(file, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT) : create(file, "lost");
    CHECK(data >= 0);
    H5Sclose(space);
    if (i == 2) CHECK(H5Ldelete(file, "lost", H5P_DEFAULT) >= 0);
    for (int j = 0; j < 2; ++j) write_part(data, columns_of(rank), i, H5FD_MPIO_COLLECTIVE);
    MPI_Barrier(MPI_COMM_WORLD);
    H5Dclose(data);
    char name[32];
    snprintf(name, sizeof name, "kept %d", i);
    const hid_t kept = create(file, name);
    write_part(kept, columns_of((rank + i + 1) % kRanks), -i, H5FD_MPIO_INDEPENDENT);
    H5Dclose(kept);
  }
  CHECK(H5Fclose(file) >= 0);
}

// MPI-IO writes the chunks around a dataset together, and writes the bytes between them back as it found them.
static void holes(void) {
  const hid_t file = create_file("holes");
  const hid_t chunked = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t chunk[2] = {kRows / 4, kColumns / 4}, half[2] = {kRows / 2, kColumns}, whole[2] = {kRows, kColumns};
  CHECK(H5Pset_chunk(chunked, 2, chunk) >= 0);
  const hid_t space = H5Screate_simple(2, half, whole);
  const hid_t around = H5Dcreate2(file, "around", H5T_IEEE_F64LE, space, H5P_DEFAULT, chunked, H5P_DEFAULT);
  const hid_t between = create(file, "between");
  CHECK(around >= 0 && H5Dset_extent(around, whole) >= 0);
  for (int i = 0; i < 10; ++i) {
    write_part(between, columns_of(rank), i, H5FD_MPIO_INDEPENDENT);
    write_part(around, columns_of(rank), i, H5FD_MPIO_COLLECTIVE);
    check_part(between, rows_of(rank), i, H5FD_MPIO_COLLECTIVE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  H5Sclose(space);
  H5Pclose(chunked);
  H5Dclose(around);
  H5Dclose(between);
  CHECK(H5Fclose(file) >= 0);
}

// If the program asks for that, others see a write when it has returned.
static void atomic(void) {
  const hid_t file = create_file("atomic");
  const hid_t data = create(file, "data");
  write_part(data, rows_of(rank), 0, H5FD_MPIO_COLLECTIVE);
  CHECK(H5Fset_mpi_atomicity(file, 1) >= 0);
  MPI_Barrier(MPI_COMM_WORLD);
  check_part(data, rows_of((rank + 1) % kRanks), 0, H5FD_MPIO_INDEPENDENT);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 1; i < 3; ++i) {
    write_part(data, rows_of(rank), i, i == 2 ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
    MPI_Barrier(MPI_COMM_WORLD);
    check_part(data, rows_of((rank + 1) % kRanks), i, H5FD_MPIO_INDEPENDENT);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  H5Dclose(data);
  CHECK(H5Fclose(file) >= 0);
}

// All ranks read metadata together: then a look at a dataset is a collective call, too.
static void metadata(void) {
  const hid_t access = access_of(MPI_COMM_WORLD);
  CHECK(H5Pset_all_coll_metadata_ops(access, 1) >= 0);
  const hid_t file = H5Fcreate(path_of("metadata"), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  CHECK(file >= 0);
  const hid_t data = create(file, "data");
  CHECK(H5Fflush(file, H5F_SCOPE_LOCAL) >= 0);
  if (rank == 1) write_part(data, rows_of(2), 0, H5FD_MPIO_INDEPENDENT);
  H5Dclose(data);
  CHECK(H5Fclose(file) >= 0);
  const hid_t again = H5Fopen(path_of("metadata"), H5F_ACC_RDWR, access);
  const hid_t same = H5Dopen2(again, "data", H5P_DEFAULT);
  CHECK(same >= 0);
  if (rank == 3) write_part(same, rows_of(0), 0, H5FD_MPIO_INDEPENDENT);
  H5Dclose(same);
  CHECK(H5Fclose(again) >= 0);
  H5Pclose(access);
}

// A file from one process, with a dataset that has no place yet.
static void serial(void) {
  if (rank == 0) {
    const hid_t file = H5Fcreate(path_of("serial"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t late = H5Pcreate(H5P_DATASET_CREATE);
    CHECK(H5Pset_alloc_time(late, H5D_ALLOC_TIME_INCR) >= 0);
    const hid_t early = H5Pcreate(H5P_DATASET_CREATE);
    CHECK(H5Pset_alloc_time(early, H5D_ALLOC_TIME_EARLY) >= 0);
    const hid_t data = create_like(file, "early", H5T_IEEE_F64LE, early);
    H5Pclose(early);
    for (int i = 0; i < kRanks; ++i) write_part(data, rows_of(i), 1, H5FD_MPIO_INDEPENDENT);
    H5Dclose(data);
    H5Dclose(create_like(file, "late", H5T_IEEE_F64LE, late));
    H5Pclose(late);
    CHECK(H5Fclose(file) >= 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const hid_t file = open_file("serial");
  const hid_t early = H5Dopen2(file, "early", H5P_DEFAULT);
  const hid_t late = H5Dopen2(file, "late", H5P_DEFAULT);
  check_part(early, columns_of(rank), 1, H5FD_MPIO_COLLECTIVE);
  write_part(late, columns_of(rank), 0, H5FD_MPIO_COLLECTIVE);
  H5Dclose(early);
  H5Dclose(late);
  CHECK(H5Fclose(file) >= 0);
}

// A transfer property list reports how HDF5 has moved the data; also for carried data.
static void said(void) {
  static const H5D_selection_io_mode_t selections[] = {H5D_SELECTION_IO_MODE_DEFAULT, H5D_SELECTION_IO_MODE_OFF,
                                                       H5D_SELECTION_IO_MODE_ON};
  const hid_t file = create_file("said");
  const hid_t data = create(file, "numbers");
  const Part part = rows_of(rank);
  const hid_t in_memory = H5Screate_simple(2, part.count, NULL);
  const hid_t in_file = select_part(part);
  make_values(part, 0);
  for (int i = 0; i < 6; ++i) {
    const int together = i % 2 == 0;
    const int off = selections[i / 2] == H5D_SELECTION_IO_MODE_OFF;
    const hid_t transfer = transfer_of(together ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
    CHECK(H5Pset_selection_io(transfer, selections[i / 2]) >= 0);
    CHECK(H5Dwrite(data, H5T_NATIVE_DOUBLE, in_memory, in_file, transfer, block) >= 0);
    H5D_mpio_actual_io_mode_t mode;
    H5D_mpio_actual_chunk_opt_mode_t chunk_mode;
    uint32_t own, common, selection, cause;
    CHECK(H5Pget_mpio_actual_io_mode(transfer, &mode) >= 0);
    CHECK(H5Pget_mpio_actual_chunk_opt_mode(transfer, &chunk_mode) >= 0);
    CHECK(H5Pget_mpio_no_collective_cause(transfer, &own, &common) >= 0);
    CHECK(H5Pget_actual_selection_io_mode(transfer, &selection) >= 0);
    CHECK(H5Pget_no_selection_io_cause(transfer, &cause) >= 0);
    CHECK(mode == (together ? H5D_MPIO_CONTIGUOUS_COLLECTIVE : H5D_MPIO_NO_COLLECTIVE));
    CHECK(chunk_mode == (together && !off ? H5D_MPIO_LINK_CHUNK : H5D_MPIO_NO_CHUNK_OPTIMIZATION));
    CHECK(own == (together ? 0 : H5D_MPIO_SET_INDEPENDENT) && common == own);
    // By one rank alone HDF5 2.2.0 calls both functions of the driver.
    CHECK(selection == (together && !off ? H5D_SELECTION_IO : H5D_SCALAR_IO) ||
          (!together && !off && selection == (H5D_SELECTION_IO | H5D_SCALAR_IO)));
    CHECK(cause == (off ? H5D_SEL_IO_DISABLE_BY_API : together ? 0 : H5D_SEL_IO_NO_VECTOR_OR_SELECTION_IO_CB));
    H5Pclose(transfer);
  }
  H5Sclose(in_file);
  H5Sclose(in_memory);
  H5Dclose(data);
  CHECK(H5Fclose(file) >= 0);
}

// Asynchronous calls, which have ended when the event set says so.
static void later(void) {
  const hid_t file = create_file("later");
  const hid_t data = create(file, "data");
  const hid_t events = H5EScreate();
  const hid_t transfer = transfer_of(H5FD_MPIO_COLLECTIVE);
  const hid_t in_file = select_part(columns_of(rank));
  const hsize_t count = kRows * kColumns / kRanks;
  const hid_t in_memory = H5Screate_simple(1, &count, NULL);
  for (int i = 0; i < 2; ++i) {
    make_values(columns_of(rank), i);
    CHECK(H5Dwrite_async(data, H5T_NATIVE_DOUBLE, in_memory, in_file, transfer, block, events) >= 0);
    size_t running = 0;
    hbool_t failed = 0;
    CHECK(H5ESwait(events, H5ES_WAIT_FOREVER, &running, &failed) >= 0 && running == 0 && !failed);
    MPI_Barrier(MPI_COMM_WORLD);
    check_part(data, columns_of((rank + 1) % kRanks), i, H5FD_MPIO_INDEPENDENT);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  H5Sclose(in_memory);
  H5Sclose(in_file);
  H5Pclose(transfer);
  H5ESclose(events);
  H5Dclose(data);
  CHECK(H5Fclose(file) >= 0);
}

// ---- a random program, the same on all ranks, that keeps to MPI-IO's rules --------------------------------------

typedef struct {
  int exists, chunked;
  int shape, turn;                 // how it was divided among the ranks at its last write
  int settled;                     // all ranks see all of it
  double model[kRows * kColumns];  // its contents
} Known;

static unsigned random_state;

static int below(int limit) {
  random_state = random_state * 1103515245 + 12345;
  return (int)(random_state >> 16) % limit;
}

static Part part_of(int shape, int of) {
  return shape == 0 ? rows_of(of) : shape == 1 ? tile_of(of) : columns_of(of);
}

static const char* name_of(int number) {
  static char name[16];
  snprintf(name, sizeof name, "data %d", number);
  return name;
}

static hid_t create_known(hid_t file, Known* known, int number) {
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t chunk[2] = {(hsize_t)(kRows / (1 + below(4))), kColumns / 2};
  const double fill = below(2);
  known->exists = known->settled = 1;
  known->chunked = below(3) == 0;
  if (known->chunked) CHECK(H5Pset_chunk(properties, 2, chunk) >= 0 && H5Pset_deflate(properties, 1) >= 0);
  // Reused space of another dataset keeps its contents unless it is filled.
  CHECK(H5Pset_fill_time(properties, H5D_FILL_TIME_ALLOC) >= 0);
  CHECK(H5Pset_fill_value(properties, H5T_NATIVE_DOUBLE, &fill) >= 0);
  for (size_t i = 0; i < kRows * kColumns; ++i) known->model[i] = fill;
  const hid_t data = create_like(file, name_of(number), H5T_IEEE_F64LE, properties);
  H5Pclose(properties);
  return data;
}

// Writes by all ranks, or by some, and notes that.
static void write_known(hid_t file, hid_t data, Known* known, int number) {
  const int shape = below(3), turn = below(kRanks), some = 1 + below((1 << kRanks) - 1), single = below(1 << kRanks);
  const H5FD_mpio_xfer_t mode = known->chunked || below(2) ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT;
  if (!known->settled && (shape != known->shape || turn != known->turn)) {
    CHECK(H5Fflush(file, H5F_SCOPE_LOCAL) >= 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);  // another rank may still read what is about to be overwritten
  for (int of = 0; of < kRanks; ++of) {
    if (!(some >> of & 1)) continue;
    const Part part = part_of(shape, (of + turn) % kRanks);
    for (hsize_t i = 0; i < part.count[0]; ++i) {
      for (hsize_t j = 0; j < part.count[1]; ++j) {
        const hsize_t row = part.begin[0] + i * part.step[0], column = part.begin[1] + j * part.step[1];
        known->model[row * kColumns + column] = value(row, column) + number;
      }
    }
  }
  const Part part = part_of(shape, (rank + turn) % kRanks);
  const hid_t in_memory = H5Screate_simple(2, part.count, NULL);
  const hid_t in_file = select_part(part);
  if (!(some >> rank & 1)) CHECK(H5Sselect_none(in_memory) >= 0 && H5Sselect_none(in_file) >= 0);
  make_values(part, number);
  static float floats[kRows * kColumns];
  for (size_t i = 0; i < kRows * kColumns; ++i) floats[i] = (float)block[i];
  // HDF5 cannot convert on some ranks alone, and not before filters.
  const int converts = known->chunked ? 0 : mode == H5FD_MPIO_COLLECTIVE ? single & 1 : single >> rank & 1;
  const hid_t transfer = transfer_of(mode);
  CHECK(H5Dwrite(data, converts ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE, in_memory, in_file, transfer,
                 converts ? (void*)floats : block) >= 0);
  H5Pclose(transfer);
  H5Sclose(in_file);
  H5Sclose(in_memory);
  known->shape = shape;
  known->turn = turn;
  known->settled = 0;
}

// Compares this rank's own writes, or any writes if they have settled.
static void read_known(hid_t data, const Known* known) {
  const int other = below(3), turn = below(kRanks);
  const H5FD_mpio_xfer_t mode = known->chunked || below(2) ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT;
  const Part part =
      known->settled ? part_of(other, (rank + turn) % kRanks) : part_of(known->shape, (rank + known->turn) % kRanks);
  static double read[kRows * kColumns];
  const hid_t in_file = select_part(part);
  const hid_t transfer = transfer_of(mode);
  CHECK(H5Dread(data, H5T_NATIVE_DOUBLE, in_file, in_file, transfer, read) >= 0);
  for (hsize_t i = 0; i < part.count[0]; ++i) {
    for (hsize_t j = 0; j < part.count[1]; ++j) {
      const hsize_t at = (part.begin[0] + i * part.step[0]) * kColumns + part.begin[1] + j * part.step[1];
      CHECK(read[at] == known->model[at]);
    }
  }
  H5Pclose(transfer);
  H5Sclose(in_file);
}

static void settle_all(Known* known, int count) {
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) known[i].settled = 1;
}

static void random_steps(void) {
  enum { kDatasets = 5, kSteps = 40 };
  static Known known[kDatasets];
  hid_t open[kDatasets];
  const char* const seed = getenv("TAILRACE_SEED");
  random_state = seed != NULL ? (unsigned)strtoul(seed, NULL, 10) : 1;
  hid_t file = create_file("random");
  for (int step = 1; step <= kSteps; ++step) {
    const int kind = below(12), number = below(kDatasets), to = below(kDatasets);
    Known* const at = &known[number];
    if (!at->exists) {
      open[number] = create_known(file, at, number);
    } else if (kind < 5) {
      write_known(file, open[number], at, step);
    } else if (kind < 8) {
      read_known(open[number], at);
    } else if (kind == 8) {
      CHECK(H5Fflush(file, H5F_SCOPE_LOCAL) >= 0);
      settle_all(known, kDatasets);
    } else if (kind == 9) {
      MPI_Barrier(MPI_COMM_WORLD);
      CHECK(H5Ldelete(file, name_of(number), H5P_DEFAULT) >= 0);
      H5Dclose(open[number]);
      // A rank reads from the file what it frees, and another one may already write something else to that space.
      MPI_Barrier(MPI_COMM_WORLD);
      at->exists = 0;
    } else if (kind == 10 && !known[to].exists) {
      char name[16];
      strcpy(name, name_of(number));
      MPI_Barrier(MPI_COMM_WORLD);
      CHECK(H5Ocopy(file, name, file, name_of(to), H5P_DEFAULT, H5P_DEFAULT) >= 0);
      MPI_Barrier(MPI_COMM_WORLD);
      memcpy(&known[to], at, sizeof *at);
      known[to].settled = 1;
      open[to] = H5Dopen2(file, name_of(to), H5P_DEFAULT);
    } else if (kind == 11) {
      for (int i = 0; i < kDatasets; ++i) {
        if (known[i].exists) H5Dclose(open[i]);
      }
      CHECK(H5Fclose(file) >= 0);
      settle_all(known, kDatasets);
      file = open_file("random");
      for (int i = 0; i < kDatasets; ++i) {
        if (known[i].exists) open[i] = H5Dopen2(file, name_of(i), H5P_DEFAULT);
      }
    }
  }
  for (int i = 0; i < kDatasets; ++i) {
    if (known[i].exists) H5Dclose(open[i]);
  }
  CHECK(H5Fclose(file) >= 0);
}

// ---- what fails -------------------------------------------------------------------------------------------------

// tailrace cannot be opened on one rank, whose directory is not one.
static void unopened(void) {
  if (rank == 2) setenv("XDG_RUNTIME_DIR", "/dev/null", 1);
  write_both_ways("unopened", columns_of(rank));
}

// Rank 3 may not write as far as its part reaches.
static void limit(int limited) {
  const struct rlimit size = {limited && rank == 3 ? 8 << 10 : RLIM_INFINITY, RLIM_INFINITY};
  CHECK(setrlimit(RLIMIT_FSIZE, &size) == 0);
}

// Its failure is reported once; and no rank waits for another for ever.
static void refused(void) {
  signal(SIGXFSZ, SIG_IGN);
  const hid_t file = create_file("refused");
  const hid_t other = create_file("refused_other");
  const hid_t chunked = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t shape[2] = {kRows / kRanks, kColumns};
  CHECK(H5Pset_chunk(chunked, 2, shape) >= 0 && H5Pset_deflate(chunked, 1) >= 0);
  hid_t both[2] = {create(file, "data"), create_like(file, "chunked", H5T_IEEE_F64LE, chunked)};
  const hid_t data = both[0];
  CHECK(H5Fflush(file, H5F_SCOPE_LOCAL) >= 0);

  limit(1);  // a write or the flush reports it
  int failures = try_to_write(data, rows_of(rank), 0, H5FD_MPIO_COLLECTIVE) < 0;
  failures += try_to_write(data, rows_of(rank), 1, H5FD_MPIO_COLLECTIVE) < 0;
  failures += H5Fflush(file, H5F_SCOPE_LOCAL) < 0;
  CHECK((failures > 0) == (rank == 3));
  limit(0);
  write_part(data, rows_of(rank), 2, H5FD_MPIO_COLLECTIVE);
  check_part(data, rows_of((rank + 1) % kRanks), 2, H5FD_MPIO_COLLECTIVE);

  limit(1);  // a call in which the others wait for this rank reports it
  write_part(data, rows_of(rank), 3, H5FD_MPIO_COLLECTIVE);
  CHECK(H5Fflush(other, H5F_SCOPE_LOCAL) >= 0);
  limit(0);
  hid_t types[2] = {H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE}, spaces[2] = {select_part(rows_of(rank)), 0};
  spaces[1] = spaces[0];
  const void* from[2] = {block, block};
  const hid_t transfer = transfer_of(H5FD_MPIO_COLLECTIVE);
  CHECK((H5Dwrite_multi(2, both, types, spaces, spaces, transfer, from) < 0) == (rank == 3));

  limit(1);  // a collective read, which waits for the writes of each rank, reports it
  write_part(data, rows_of(rank), 4, H5FD_MPIO_COLLECTIVE);
  CHECK((H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, transfer, block) < 0) == (rank == 3));
  limit(0);

  limit(1);  // close reports it
  failures = try_to_write(data, tile_of(rank), 3, H5FD_MPIO_INDEPENDENT) < 0;
  CHECK(H5Fflush(other, H5F_SCOPE_LOCAL) >= 0);
  limit(0);
  H5Pclose(transfer);
  H5Sclose(spaces[0]);
  H5Dclose(both[0]);
  H5Dclose(both[1]);
  failures += H5Fclose(file) < 0;
  CHECK((failures > 0) == (rank == 3));
  CHECK(H5Fclose(other) >= 0);
}

// The disk of DIRECTORY has less room than rank 3 needs, after the others.
static void full(void) {
  const hid_t file = create_file("full");
  const hid_t data = create(file, "data");
  const hsize_t bytes = 16 << 20;
  const hid_t space = H5Screate_simple(1, &bytes, NULL);
  const hid_t large = H5Dcreate2(file, "large", H5T_NATIVE_CHAR, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  CHECK(large >= 0);
  write_part(data, rows_of(rank), 0, H5FD_MPIO_COLLECTIVE);
  CHECK(H5Fflush(file, H5F_SCOPE_LOCAL) >= 0);
  MPI_Barrier(MPI_COMM_WORLD);
  int failures = 0;
  if (rank == 3) {
    char* const many = calloc(bytes, 1);
    failures += H5Dwrite(large, H5T_NATIVE_CHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, many) < 0;
    free(many);
  }
  failures += H5Fflush(file, H5F_SCOPE_LOCAL) < 0;
  CHECK((failures > 0) == (rank == 3));
  H5Sclose(space);
  H5Dclose(large);
  H5Dclose(data);
  CHECK(H5Fclose(file) >= 0);
}

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {{"rows", rows},           {"tiles", tiles},       {"columns", columns}, {"conversion", conversion},
             {"nothing", nothing},     {"wrong", wrong},       {"chunks", chunks},   {"fills", fills},
             {"across", across},       {"files", files},       {"several", several}, {"attributes", attributes},
             {"reuse", reuse},         {"nameless", nameless}, {"holes", holes},     {"atomic", atomic},
             {"metadata", metadata},   {"serial", serial},     {"said", said},       {"later", later},
             {"random", random_steps}, {"unopened", unopened}, {"refused", refused}, {"full", full}};

int main(int count, char** arguments) {
  int size = 0;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(size == kRanks && count > 2);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  directory = arguments[1];
  for (int i = 2; i < count; ++i) {
    for (size_t j = 0; j < sizeof cases / sizeof *cases; ++j) {
      if (strcmp(arguments[i], cases[j].name) != 0) continue;
      cases[j].run();
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank == 0) printf("%s\n", cases[j].name);
      fflush(stdout);
    }
  }
  MPI_Finalize();
  return 0;
}
