// The data, or the memory for them, that a call of the program names by an address, a count and a datatype.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "mpiio/mpi/read_type.hpp"
#include "mpiio/types/flat_type.hpp"
#include "mpiio/types/view.hpp"

namespace tailrace::mpiio {

// Returns null for a type that is not known.
inline std::shared_ptr<const FlatType> flatten(MPI_Datatype type) {
  const TypePointer tree = read_type(type);
  return tree != nullptr ? std::make_shared<const FlatType>(*tree) : nullptr;
}

// Returns a Memory, MemoryData or MemorySpace, of the view's data from byte `begin` on. Sets `error` where the
// arguments are wrong: then there are no data.
template <class Memory, class Byte>
Memory memory_of_call(const View& view, uint64_t begin, Byte* memory, int64_t count, MPI_Datatype type, int& error) {
  if (view.is_empty()) return {view, begin, memory, 0, nullptr};
  const auto copies = static_cast<uint64_t>(count);
  uint64_t size = 0;
  std::shared_ptr<const FlatType> apart;
  if (!is_predefined(type, size) || size == 0) {
    apart = flatten(type);
    if (apart == nullptr) {
      error = MPI_ERR_TYPE;
      return {view, begin, memory, 0, nullptr};
    }
    size = apart->size();
    if (size > 0 && apart->is_contiguous()) memory += std::exchange(apart, nullptr)->runs()[0].offset;
  }
  if (size * copies % view.etype() == 0) return {view, begin, memory, size * copies, std::move(apart)};
  error = MPI_ERR_ARG;
  return {view, begin, memory, 0, nullptr};
}

}  // namespace tailrace::mpiio
