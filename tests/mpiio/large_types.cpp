// mpiio_large_types FILE SEED: writes by datatypes that were constructed with large counts (MPI 4), in memory, and
// reads by them. The same types without large counts, for the same data, must give the same bytes. (The MPI-IO of
// MPICH 4.0 refuses such types; where tailrace makes the access, they work.)
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "datatypes.hpp"

namespace {

using Bytes = std::vector<unsigned char>;

int wrong = 0;

void require(bool good, const char* what) {
  if (!good) std::printf("mpiio_large_types: %s\n", what);
  wrong += good ? 0 : 1;
}

// Makes a type in one form.
MPI_Datatype made(bool large, const std::function<MPI_Datatype()>& make) {
  large_types = large;
  MPI_Datatype type = make();
  MPI_Type_commit(&type);
  return type;
}

// Writes and reads by both forms of a type.
void compare(MPI_File file, const char* name, const std::function<MPI_Datatype()>& make) {
  Bytes memory(1 << 16);
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<unsigned char>(i * 31 + i / 256);
  Bytes written[2];
  Bytes read[2];
  for (const bool large : {false, true}) {
    MPI_Datatype type = made(large, make);
    int size = 0;
    MPI_Type_size(type, &size);
    MPI_File_write_at(file, 0, memory.data(), 2, type, MPI_STATUS_IGNORE);
    written[large].resize(2 * static_cast<size_t>(size));
    MPI_File_read_at(file, 0, written[large].data(), 2 * size, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_write_at(file, 0, memory.data() + 77, 2 * size, MPI_BYTE, MPI_STATUS_IGNORE);
    read[large].resize(memory.size());
    MPI_File_read_at(file, 0, read[large].data(), 2, type, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
  }
  require(!written[0].empty() && written[0] == written[1], name);
  require(read[0] == read[1], name);
}

void compare_all(MPI_File file) {
  const auto below = [](int limit) { return static_cast<int>(own_dice()() % static_cast<unsigned>(limit)); };
  const int count = 1 + below(5);
  const int length = 1 + below(4);
  const Counts lengths{1 + below(4), 1 + below(4), 1 + below(4)};
  const Counts places{1 + below(5), 20 + below(5), 40 + below(5)};
  const Counts in_bytes{8 + below(5), 160 + below(9), 320 + below(9)};
  MPI_Datatype type;
  const auto vector = [&] {
    EITHER_TYPE(MPI_Type_vector, count, length, length + 2, MPI_INT, &type);
    return type;
  };
  compare(file, "contiguous", [&] {
    EITHER_TYPE(MPI_Type_contiguous, count, MPI_SHORT, &type);
    return type;
  });
  compare(file, "vector", vector);
  compare(file, "hvector", [&] {
    EITHER_TYPE(MPI_Type_create_hvector, count, length, 8 * length + 3, MPI_DOUBLE, &type);
    return type;
  });
  compare(file, "resized vector", [&] {
    MPI_Datatype inner = vector();
    EITHER_TYPE(MPI_Type_create_resized, inner, 0, 400, &type);
    MPI_Type_free(&inner);
    return type;
  });
  compare(file, "indexed", [&] { return indexed(lengths, places, MPI_DOUBLE); });
  compare(file, "hindexed", [&] { return hindexed(lengths, in_bytes, MPI_DOUBLE); });
  compare(file, "indexed_block", [&] { return indexed_block(length, places, MPI_INT); });
  compare(file, "hindexed_block", [&] { return hindexed_block(length, in_bytes, MPI_INT); });
  compare(file, "struct", [&] { return structure(lengths, in_bytes, {MPI_CHAR, MPI_DOUBLE, MPI_SHORT}); });
  compare(file, "struct of vectors", [&] {
    MPI_Datatype inner = vector();
    const MPI_Datatype all = structure({2, 1}, {0, 4000}, {inner, MPI_INT});
    MPI_Type_free(&inner);
    return all;
  });
  for (const int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN}) {
    compare(file, "subarray", [&] { return subarray({6, 7, 8}, {2, 3, 4}, {1, 2, 3}, order, MPI_INT); });
    for (const int kind : {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}) {
      Distribution of{6, below(6)};
      of.kinds = {kind, MPI_DISTRIBUTE_CYCLIC};
      of.arguments = {MPI_DISTRIBUTE_DFLT_DARG, 2};
      of.grid = {3, 2};
      compare(file, "darray", [&] { return darray(of, {12, 13}, order, MPI_INT); });
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 3) return 2;
  own_dice().seed(static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)));
  MPI_File file;
  MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  for (int round = 0; round < 10; ++round) compare_all(file);
  MPI_File_close(&file);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
