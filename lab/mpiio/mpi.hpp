// MPI's header, and what the files of mpiio_bench share over it: errors as exceptions, and datatypes with an owner.
#pragma once

#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

#include "lab/pattern/errors.hpp"

namespace bench::mpiio {

// Throws RunError with the text of the error.
inline void check(int error, const char* call) {
  if (error == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(error, text, &length);
  throw RunError(std::string(call) + ": " + std::string(text, static_cast<size_t>(length)));
}

// A datatype that is committed, and freed at the end. Must not outlive MPI_Finalize.
class Type {
 public:
  Type() = default;
  explicit Type(MPI_Datatype type) : type_(type) { MPI_Type_commit(&type_); }
  Type(Type&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
  Type& operator=(Type&& other) noexcept {
    std::swap(type_, other.type_);
    return *this;
  }
  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;
  ~Type() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

inline Type contiguous(int count, MPI_Datatype inner) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check(MPI_Type_contiguous(count, inner, &type), "MPI_Type_contiguous");
  return Type(type);
}

// Gives a type another extent.
inline Type resized(const Type& inner, MPI_Aint extent) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check(MPI_Type_create_resized(inner.get(), 0, extent, &type), "MPI_Type_create_resized");
  return Type(type);
}

// Makes a part of an array of `sizes`, the slowest dimension first.
inline Type subarray(const std::vector<int>& sizes, const std::vector<int>& parts, const std::vector<int>& starts,
                     MPI_Datatype inner) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check(MPI_Type_create_subarray(static_cast<int>(sizes.size()), sizes.data(), parts.data(), starts.data(),
                                 MPI_ORDER_C, inner, &type),
        "MPI_Type_create_subarray");
  return Type(type);
}

// Joins types, each at its own displacement.
inline Type joined(const std::vector<Type>& types, const std::vector<MPI_Aint>& displacements) {
  std::vector<MPI_Datatype> inner;
  for (const Type& one : types) inner.push_back(one.get());
  const std::vector<int> ones(types.size(), 1);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check(
      MPI_Type_create_struct(static_cast<int>(types.size()), ones.data(), displacements.data(), inner.data(), &type),
      "MPI_Type_create_struct");
  return Type(type);
}

// Returns the largest of all ranks' values.
inline double largest(double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return value;
}

}  // namespace bench::mpiio
