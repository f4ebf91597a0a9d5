// Makes datatypes by MPI's constructors, or by their forms with large counts, where the MPI has these. In a call of
// all, each process may choose another form.
#pragma once

#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <random>
#include <vector>

// Draws for this process alone.
inline std::minstd_rand& own_dice() {
  static std::minstd_rand dice;
  return dice;
}
inline bool one_of_two() { return own_dice()() % 2 == 0; }

// Types with large counts may be made. The MPI-IO of MPICH 4.0 ends the process when it meets one.
inline bool large_types = false;

// Calls a function, or its form with large counts; EITHER_TYPE: a constructor of a datatype.
#if MPI_VERSION >= 4
#define EITHER(function, ...) (one_of_two() ? function##_c(__VA_ARGS__) : function(__VA_ARGS__))
#define EITHER_TYPE(function, ...) (large_types && one_of_two() ? function##_c(__VA_ARGS__) : function(__VA_ARGS__))
#define EITHER_OF_TWO(large, small) (large_types && one_of_two() ? (large) : (small))
#else
#define EITHER(function, ...) function(__VA_ARGS__)
#define EITHER_TYPE(function, ...) function(__VA_ARGS__)
#define EITHER_OF_TWO(large, small) (small)
#endif

using Counts = std::vector<MPI_Count>;

template <class Number>
std::vector<Number> as(const Counts& counts) {
  return {counts.begin(), counts.end()};
}

inline MPI_Datatype indexed(const Counts& lengths, const Counts& places, MPI_Datatype element) {
  MPI_Datatype type;
  const auto count = static_cast<int>(lengths.size());
  EITHER_OF_TWO(MPI_Type_indexed_c(count, lengths.data(), places.data(), element, &type),
                MPI_Type_indexed(count, as<int>(lengths).data(), as<int>(places).data(), element, &type));
  return type;
}

// `places` in bytes.
inline MPI_Datatype hindexed(const Counts& lengths, const Counts& places, MPI_Datatype element) {
  MPI_Datatype type;
  const auto count = static_cast<int>(lengths.size());
  EITHER_OF_TWO(
      MPI_Type_create_hindexed_c(count, lengths.data(), places.data(), element, &type),
      MPI_Type_create_hindexed(count, as<int>(lengths).data(), as<MPI_Aint>(places).data(), element, &type));
  return type;
}

inline MPI_Datatype indexed_block(MPI_Count length, const Counts& places, MPI_Datatype element) {
  MPI_Datatype type;
  const auto count = static_cast<int>(places.size());
  const auto each = static_cast<int>(length);
  EITHER_OF_TWO(MPI_Type_create_indexed_block_c(count, length, places.data(), element, &type),
                MPI_Type_create_indexed_block(count, each, as<int>(places).data(), element, &type));
  return type;
}

// `places` in bytes.
inline MPI_Datatype hindexed_block(MPI_Count length, const Counts& places, MPI_Datatype element) {
  MPI_Datatype type;
  const auto count = static_cast<int>(places.size());
  const auto each = static_cast<int>(length);
  EITHER_OF_TWO(MPI_Type_create_hindexed_block_c(count, length, places.data(), element, &type),
                MPI_Type_create_hindexed_block(count, each, as<MPI_Aint>(places).data(), element, &type));
  return type;
}

// `places` in bytes.
inline MPI_Datatype structure(const Counts& lengths, const Counts& places,
                              const std::vector<MPI_Datatype>& elements) {
  MPI_Datatype type;
  const auto count = static_cast<int>(lengths.size());
  EITHER_OF_TWO(
      MPI_Type_create_struct_c(count, lengths.data(), places.data(), elements.data(), &type),
      MPI_Type_create_struct(count, as<int>(lengths).data(), as<MPI_Aint>(places).data(), elements.data(), &type));
  return type;
}

inline MPI_Datatype subarray(const Counts& sizes, const Counts& parts, const Counts& starts, int order,
                             MPI_Datatype element) {
  MPI_Datatype type;
  const auto ranks = static_cast<int>(sizes.size());
  EITHER_OF_TWO(MPI_Type_create_subarray_c(ranks, sizes.data(), parts.data(), starts.data(), order, element, &type),
                MPI_Type_create_subarray(ranks, as<int>(sizes).data(), as<int>(parts).data(), as<int>(starts).data(),
                                         order, element, &type));
  return type;
}

// A part of an array that is distributed over all processes.
struct Distribution {
  int processes = 1;
  int rank = 0;
  std::vector<int> kinds = {};  // these three by dimension
  std::vector<int> arguments = {};
  std::vector<int> grid = {};
};
inline MPI_Datatype darray(const Distribution& of, const Counts& sizes, int order, MPI_Datatype element) {
  MPI_Datatype type;
  const auto ranks = static_cast<int>(sizes.size());
  EITHER_OF_TWO(MPI_Type_create_darray_c(of.processes, of.rank, ranks, sizes.data(), of.kinds.data(),
                                         of.arguments.data(), of.grid.data(), order, element, &type),
                MPI_Type_create_darray(of.processes, of.rank, ranks, as<int>(sizes).data(), of.kinds.data(),
                                       of.arguments.data(), of.grid.data(), order, element, &type));
  return type;
}
