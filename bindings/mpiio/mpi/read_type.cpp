#include "mpiio/mpi/read_type.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "mpiio/mpi/real_mpi.hpp"

namespace tailrace::mpiio {
namespace {

// The functions of MPI 4 describe types with large counts, too, and fail for none.
using GetEnvelope = int (*)(MPI_Datatype, MPI_Count*, MPI_Count*, MPI_Count*, MPI_Count*, int*);
using GetContents = int (*)(MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int*, MPI_Aint*, MPI_Count*,
                            MPI_Datatype*);

GetEnvelope large_envelope() {
  static const auto found = reinterpret_cast<GetEnvelope>(find_next("MPI_Type_get_envelope_c"));
  return found;
}

// How many arguments of each kind a type was constructed from, and by which constructor (MPI 4.0, §5.1.13).
struct Envelope {
  MPI_Count integers = 0;
  MPI_Count addresses = 0;
  MPI_Count counts = 0;
  MPI_Count types = 0;
  int combiner = MPI_COMBINER_NAMED;

  explicit Envelope(MPI_Datatype type) {
    if (const GetEnvelope large = large_envelope()) {
      large(type, &integers, &addresses, &counts, &types, &combiner);
      return;
    }
    int i = 0;
    int a = 0;
    int t = 0;
    TAILRACE_REAL(MPI_Type_get_envelope)(type, &i, &a, &t, &combiner);
    integers = i;
    addresses = a;
    types = t;
  }

  // Types of Fortran with a precision (MPI 3.1, §17.1.9) are predefined, too.
  bool is_named() const {
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
  }
};

// The arguments that a type was constructed from, in the form of constructors without large counts.
class Contents {
 public:
  explicit Contents(MPI_Datatype type) : Contents(type, Envelope(type)) {}
  ~Contents() {
    for (MPI_Datatype& type : types_) {
      if (!Envelope(type).is_named()) TAILRACE_REAL(MPI_Type_free)(&type);
    }
  }
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  int combiner() const { return combiner_; }
  bool is_named() const { return named_; }
  const std::vector<MPI_Datatype>& types() const { return types_; }
  bool has_integers() const { return !integers_.empty(); }
  int64_t integer(size_t index) const { return integers_[index]; }
  int64_t address(size_t index) const { return addresses_[index]; }

 private:
  using Numbers = std::vector<int64_t>;

  Contents(MPI_Datatype type, const Envelope& envelope) : combiner_(envelope.combiner), named_(envelope.is_named()) {
    if (named_) return;
    // No list is empty, since MPIs may look at the first element.
    std::vector<int> integers(static_cast<size_t>(envelope.integers) + 1);
    std::vector<MPI_Aint> addresses(static_cast<size_t>(envelope.addresses) + 1);
    std::vector<MPI_Count> counts(static_cast<size_t>(envelope.counts) + 1);
    types_.resize(static_cast<size_t>(envelope.types) + 1);
    if (large_envelope() != nullptr) {
      static const auto large = reinterpret_cast<GetContents>(next_function("MPI_Type_get_contents_c"));
      large(type, envelope.integers, envelope.addresses, envelope.counts, envelope.types, integers.data(),
            addresses.data(), counts.data(), types_.data());
    } else {
      TAILRACE_REAL(MPI_Type_get_contents)
      (type, static_cast<int>(envelope.integers), static_cast<int>(envelope.addresses),
       static_cast<int>(envelope.types), integers.data(), addresses.data(), types_.data());
    }
    types_.pop_back();
    integers_.assign(integers.begin(), integers.end() - 1);
    addresses_.assign(addresses.begin(), addresses.end() - 1);
    if (envelope.counts > 0) place(Numbers(counts.begin(), counts.end() - 1));
  }

  // Puts the large counts where the constructor without them has its arguments. Displacements in bytes are among
  // them.
  void place(const Numbers& counts) {
    switch (combiner_) {
      case MPI_COMBINER_SUBARRAY: integers_.insert(integers_.begin() + 1, counts.begin(), counts.end()); break;
      case MPI_COMBINER_DARRAY: integers_.insert(integers_.begin() + 3, counts.begin(), counts.end()); break;
      case MPI_COMBINER_HVECTOR:
      case MPI_COMBINER_HINDEXED_BLOCK: place(counts, 2); break;
      case MPI_COMBINER_HINDEXED:
      case MPI_COMBINER_STRUCT: place(counts, 1 + counts[0]); break;
      default: integers_ = counts;
    }
  }
  void place(const Numbers& counts, int64_t integers) {
    integers_.assign(counts.begin(), counts.begin() + integers);
    addresses_.assign(counts.begin() + integers, counts.end());
  }

  int combiner_;
  bool named_;
  Numbers integers_;
  Numbers addresses_;
  std::vector<MPI_Datatype> types_;
};

void set_bounds(MPI_Datatype type, TypeTree& tree) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  TAILRACE_REAL(MPI_Type_get_extent)(type, &lower, &extent);
  tree.lower = static_cast<int64_t>(lower);
  tree.extent = static_cast<int64_t>(extent);
}

// The pairs of MINLOC and MAXLOC are like structures of C: a value, a gap, and an int.
TypePointer predefined(MPI_Datatype type) {
  auto tree = std::make_shared<TypeTree>();
  set_bounds(type, *tree);
  int size = 0;
  TAILRACE_REAL(MPI_Type_size)(type, &size);
  const auto bytes = static_cast<uint64_t>(std::max(size, 0));
  if (bytes == 0) return tree;
  if (type == MPI_SHORT_INT) {
    tree->bytes = {{0, sizeof(short)}, {static_cast<int64_t>(sizeof(int)), sizeof(int)}};
  } else if (type == MPI_LONG_DOUBLE_INT) {
    tree->bytes = {{0, sizeof(long double)}, {static_cast<int64_t>(sizeof(long double)), sizeof(int)}};
  } else {
    tree->bytes = {{tree->lower, bytes}};
  }
  return tree;
}

TypePart one(TypePointer child, int64_t displacement, int64_t count) {
  return {std::move(child), {{displacement, count}}};
}

// Blocks with displacements: indexed, and those that are like it. `length_of` and `displacement_of` give the i-th.
template <class LengthOf, class DisplacementOf>
std::vector<TypePart> blocks(TypePointer child, int64_t count, LengthOf length_of, DisplacementOf displacement_of) {
  TypePart part;
  part.child = std::move(child);
  part.blocks.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    part.blocks.push_back({displacement_of(static_cast<size_t>(i)), length_of(static_cast<size_t>(i))});
  }
  return {std::move(part)};
}

TypePointer with_extent(std::vector<TypePart> parts, int64_t extent) {
  auto tree = std::make_shared<TypeTree>();
  tree->parts = std::move(parts);
  tree->extent = extent;
  return tree;
}

// A dimension of an array: which of its indices belong to the type.
struct Dimension {
  int64_t size = 0;
  std::vector<TypeBlock> owned;  // in elements
};

// Returns the parts of an array whose dimensions are ordered from the fastest to the slowest one.
std::vector<TypePart> array(TypePointer element, const std::vector<Dimension>& dimensions) {
  TypePointer inner = std::move(element);
  for (const Dimension& dimension : dimensions) {
    TypePart part;
    part.child = inner;
    for (const TypeBlock& block : dimension.owned) {
      part.blocks.push_back({block.displacement * inner->extent, block.count});
    }
    inner = with_extent({std::move(part)}, dimension.size * inner->extent);
  }
  return {one(inner, 0, 1)};
}

std::vector<TypePart> subarray(const Contents& of, TypePointer element) {
  const auto ranks = static_cast<size_t>(of.integer(0));
  const bool c_order = of.integer(3 * ranks + 1) == MPI_ORDER_C;
  std::vector<Dimension> dimensions;
  for (size_t i = 0; i < ranks; ++i) {
    const size_t at = c_order ? ranks - 1 - i : i;
    dimensions.push_back({of.integer(1 + at), {{of.integer(2 * ranks + 1 + at), of.integer(ranks + 1 + at)}}});
  }
  return array(std::move(element), dimensions);
}

// The indices that a process has of a distributed dimension (MPI 3.1, §4.1.4).
std::vector<TypeBlock> distributed(int64_t size, int64_t kind, int64_t argument, int64_t processes, int64_t rank) {
  if (kind == MPI_DISTRIBUTE_NONE) return {{0, size}};
  const bool is_block = kind == MPI_DISTRIBUTE_BLOCK;
  int64_t block = argument;
  if (argument == MPI_DISTRIBUTE_DFLT_DARG) block = is_block ? (size + processes - 1) / processes : 1;
  std::vector<TypeBlock> owned;
  for (int64_t at = rank * block; at < size; at += processes * block) {
    owned.push_back({at, std::min(block, size - at)});
    if (is_block) break;
  }
  return owned;
}

std::vector<TypePart> darray(const Contents& of, TypePointer element) {
  int64_t rank = of.integer(1);
  const auto ranks = static_cast<size_t>(of.integer(2));
  const auto group = [&of, ranks](size_t index, size_t dimension) {
    return of.integer(3 + index * ranks + dimension);  // 0: sizes, 1: distributions, 2: arguments, 3: processes
  };
  std::vector<int64_t> place(ranks);  // of the process; the last dimension of the processes is the fastest
  for (size_t i = ranks; i-- > 0;) {
    place[i] = rank % group(3, i);
    rank /= group(3, i);
  }
  const bool c_order = of.integer(4 * ranks + 3) == MPI_ORDER_C;
  std::vector<Dimension> dimensions;
  for (size_t i = 0; i < ranks; ++i) {
    const size_t at = c_order ? ranks - 1 - i : i;
    dimensions.push_back(
        {group(0, at), distributed(group(0, at), group(1, at), group(2, at), group(3, at), place[at])});
  }
  return array(std::move(element), dimensions);
}

// `repeats` blocks of `length` elements.
std::vector<TypePart> vector_of(TypePointer child, int64_t repeats, int64_t length, int64_t stride) {
  TypePart part = one(std::move(child), 0, length);
  part.repeats = repeats;
  part.stride = stride;
  return {std::move(part)};
}

// The parts of a type with one child.
std::vector<TypePart> parts_of(const Contents& of, const TypePointer& child, bool& known) {
  const auto count = static_cast<size_t>(of.has_integers() ? of.integer(0) : 0);
  switch (of.combiner()) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED: return {one(child, 0, 1)};
    case MPI_COMBINER_CONTIGUOUS: return {one(child, 0, of.integer(0))};
    case MPI_COMBINER_VECTOR: return vector_of(child, of.integer(0), of.integer(1), of.integer(2) * child->extent);
    case MPI_COMBINER_HVECTOR: return vector_of(child, of.integer(0), of.integer(1), of.address(0));
    case MPI_COMBINER_INDEXED:
      return blocks(
          child, of.integer(0), [&](size_t i) { return of.integer(1 + i); },
          [&](size_t i) { return of.integer(1 + count + i) * child->extent; });
    case MPI_COMBINER_HINDEXED:
      return blocks(
          child, of.integer(0), [&](size_t i) { return of.integer(1 + i); }, [&](size_t i) { return of.address(i); });
    case MPI_COMBINER_INDEXED_BLOCK:
      return blocks(
          child, of.integer(0), [&](size_t) { return of.integer(1); },
          [&](size_t i) { return of.integer(2 + i) * child->extent; });
    case MPI_COMBINER_HINDEXED_BLOCK:
      return blocks(
          child, of.integer(0), [&](size_t) { return of.integer(1); }, [&](size_t i) { return of.address(i); });
    case MPI_COMBINER_SUBARRAY: return subarray(of, child);
    case MPI_COMBINER_DARRAY: return darray(of, child);
    default: known = false; return {};
  }
}

}  // namespace

TypePointer read_type(MPI_Datatype type) {
  const Contents of(type);
  if (of.is_named()) return predefined(type);
  auto tree = std::make_shared<TypeTree>();
  set_bounds(type, *tree);
  std::vector<TypePointer> children;
  for (const MPI_Datatype child : of.types()) children.push_back(read_type(child));
  if (std::find(children.begin(), children.end(), nullptr) != children.end()) return nullptr;
  if (of.combiner() == MPI_COMBINER_STRUCT) {
    for (size_t i = 0; i < children.size(); ++i) {
      tree->parts.push_back(one(children[i], of.address(i), of.integer(1 + i)));
    }
    return tree;
  }
  bool known = children.size() == 1;
  if (known) tree->parts = parts_of(of, children[0], known);
  return known ? tree : nullptr;
}

bool is_predefined(MPI_Datatype type, uint64_t& size) {
  if (Envelope(type).combiner != MPI_COMBINER_NAMED) return false;
  int bytes = 0;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  TAILRACE_REAL(MPI_Type_size)(type, &bytes);
  TAILRACE_REAL(MPI_Type_get_extent)(type, &lower, &extent);
  size = lower == 0 && extent == bytes ? static_cast<uint64_t>(bytes) : 0;
  return true;
}

}  // namespace tailrace::mpiio
