// A random program of MPI-IO calls: mpiio_random_io FILE SEED [threads]. It writes FILE and FILE.other by turns. With
// `threads`, it asks for MPI_THREAD_MULTIPLE. Run it with
// tailrace and without, on the same number of processes: the files, and what it prints, must be equal. It reads back
// what it has written, and checks that, too.
//
// Each step sets a view that gives each process bytes of its own, writes by every form of the call, and ends with a
// sync of all, as MPI asks for before another process may write to the same bytes.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "datatypes.hpp"

namespace {

void must(int error, const char* call) {
  if (error == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(error, text, &length);
  std::fprintf(stderr, "mpiio_random_io: %s: %s\n", call, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "mpiio_random_io: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// A datatype that it frees, unless it is predefined.
class Type {
 public:
  explicit Type(MPI_Datatype type, bool made = false) : type_(type), made_(made) {
    if (made_) MPI_Type_commit(&type_);
  }
  Type(Type&& other) noexcept : type_(other.type_), made_(std::exchange(other.made_, false)) {}
  ~Type() {
    if (made_) MPI_Type_free(&type_);
  }
  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;
  Type& operator=(Type&&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_;
  bool made_;
};

Type resized(Type inner, MPI_Aint extent) {
  MPI_Datatype type;
  EITHER_TYPE(MPI_Type_create_resized, inner.get(), 0, extent, &type);
  return Type(type, true);
}

// A file, and the random calls that write and read it.
class Program {
 public:
  Program(std::string path, unsigned seed) : path_(std::move(path)), dice_(seed) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    own_dice().seed(seed + static_cast<unsigned>(rank_));
    // ROMIO would read the bytes between a process's pieces, and write them again, when another one has changed them.
    MPI_Info hints;
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "romio_ds_write", "disable");
    // Half of the programs choose an algorithm by hints, of which MPIs know none or one. Those of the first process
    // are in force.
    const char* const algorithms[] = {"individual", "two_phase", "dynamic", "static", "tune"};
    const unsigned algorithm = seed / 2 + static_cast<unsigned>(rank_ % 2);
    if (seed % 2 == 1) MPI_Info_set(hints, "tailrace_collective", algorithms[algorithm % 5]);
    if (seed % 2 == 1) MPI_Info_set(hints, "cb_nodes", seed % 3 == 0 ? "1" : "3");
    must(MPI_File_open(MPI_COMM_WORLD, path_.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &file_), "open");
    MPI_Info_free(&hints);
    // ROMIO writes what it finds in its buffer between the pieces of a view, where the file has no bytes yet.
    must(MPI_File_set_size(file_, 32 << 20), "set_size");
  }

  // The first half of a step: what it writes need not be in the file afterwards.
  void write_some() {
    const MPI_Datatype etypes[] = {MPI_BYTE, MPI_INT, MPI_DOUBLE};
    etype_ = etypes[below(3)];
    MPI_Type_size(etype_, &element_);
    choose_view();
    for (int i = between(1, 4); i > 0; --i) write_something();
    if (below(100) < 15) toggle_atomic();
  }

  void settle() {
    finish_step();
    if (last_ != nullptr) check(last_at_, *last_, fit_read(below(8)));
    last_ = nullptr;
    if (below(100) < 20) look_at_size();
  }

  // More than the library handles at once, from memory with gaps, to pieces of 8 KiB in turn. (In atomic mode the MPI
  // writes, and Open MPI's time is quadratic in such pieces.)
  void write_much() {
    if (atomic_) toggle_atomic();
    etype_ = MPI_DOUBLE;
    element_ = 8;
    MPI_Datatype piece;
    EITHER_TYPE(MPI_Type_contiguous, 1024, MPI_DOUBLE, &piece);
    set(MPI_Offset{8192} * rank_, resized(Type(piece, true), MPI_Aint{8192} * ranks_));
    constexpr int kElements = 700'001;
    MPI_Datatype type;
    EITHER_TYPE(MPI_Type_vector, kElements, 1, 2, MPI_DOUBLE, &type);
    Data data{std::vector<unsigned char>(size_t{kElements} * 2 * 8), Type(type, true), 1, kElements};
    ++writes_;
    fill(data.memory);
    write(1, 3, data);
    finish_step();
    check(3, data, 0);
    check(3, data, 1);
  }

  // Many pieces of one element, those of all processes in turn, with holes between them or without. Then each process
  // reads its own several times at once.
  void write_fine() {
    if (atomic_) toggle_atomic();
    one_is_empty_ = is_empty_ = false;
    contiguous_ = false;
    etype_ = MPI_DOUBLE;
    element_ = 8;
    const int turns = ranks_ + below(2);
    set(MPI_Offset{8} * rank_ + 5, resized(Type(MPI_DOUBLE), MPI_Aint{8} * turns));
    constexpr int kElements = 30'001;
    for (int round = 0; round < 2; ++round) {
      Data data{std::vector<unsigned char>(size_t{kElements} * 8), Type(MPI_DOUBLE), kElements, kElements};
      const MPI_Offset at = below(100);
      ++writes_;
      fill(data.memory);
      const int forms[] = {1, 3, 10};
      write(forms[below(3)], at, data);
      finish_step();
      check_at_once(at, data);
    }
  }

  void end() {
    read_at_end();
    for (int round = 0; round < 3; ++round) append();
    must(MPI_File_close(&file_), "close");
    use_other_modes();
    read_all_of_it();
  }

 private:
  // Opens the file once more, to append: all file pointers begin at its end, and the end is behind what one process
  // has just written.
  void append() {
    etype_ = MPI_BYTE;
    element_ = 1;
    set(0, Type(MPI_BYTE));
    MPI_Offset size = 0;
    must(MPI_File_get_size(file_, &size), "get_size");
    MPI_Barrier(MPI_COMM_WORLD);
    const std::vector<unsigned char> text(size_t{1} << (4 + below(16)), static_cast<unsigned char>(65 + below(26)));
    const auto length = static_cast<int>(text.size());
    if (rank_ == below(ranks_)) {
      must(EITHER(MPI_File_write_at, file_, size, text.data(), length, MPI_BYTE, MPI_STATUS_IGNORE), "write_at");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File more = MPI_FILE_NULL;
    const int mode = MPI_MODE_APPEND | (below(2) == 0 ? MPI_MODE_RDWR : MPI_MODE_WRONLY);
    must(MPI_File_open(MPI_COMM_WORLD, path_.c_str(), mode, MPI_INFO_NULL, &more), "open to append");
    MPI_Offset position = 0;
    must(MPI_File_get_position(more, &position), "get_position");
    require(position == size + length, "a file that is opened to append does not begin at its end");
    must(MPI_File_get_position_shared(more, &position), "get_position_shared");
    require(position == size + length, "the shared pointer does not begin at the end");
    if (rank_ == below(ranks_)) append_at_pointer(more, text.data(), length);
    MPI_Barrier(MPI_COMM_WORLD);
    for (const int at_end : {0, 1}) {
      if (at_end == 1) must(MPI_File_seek_shared(more, 0, MPI_SEEK_END), "seek_shared");
      must(EITHER(MPI_File_write_ordered, more, text.data(), rank_ + 1, MPI_BYTE, MPI_STATUS_IGNORE),
           "write_ordered");
    }
    must(MPI_File_close(&more), "close");
  }

  static bool own_mpi_is_mpich() {
#ifdef MPICH_NUMVERSION
    return true;
#else
    return false;
#endif
  }

  // The end is behind what is on its way.
  void append_at_pointer(MPI_File file, const unsigned char* text, int length) {
    MPI_Offset before = 0;
    MPI_Offset behind = 0;
    must(MPI_File_get_position(file, &before), "get_position");
    must(EITHER(MPI_File_write, file, text, length, MPI_BYTE, MPI_STATUS_IGNORE), "write");
    must(MPI_File_seek(file, -3, MPI_SEEK_END), "seek from the end");
    must(MPI_File_get_position(file, &behind), "get_position");
    // OMPIO finds another end in such a file.
    const bool finds_end = own_mpi_is_mpich() || std::getenv("TAILRACE_MPIIO") != nullptr;
    require(!finds_end || behind == before + length - 3, "the end of the file is elsewhere");
    must(MPI_File_seek(file, before + length - 3, MPI_SEEK_SET), "seek");
    must(EITHER(MPI_File_write, file, text, 5, MPI_BYTE, MPI_STATUS_IGNORE), "write");
  }

  // A file that must not be there before and is not afterwards, and one without other pointers than the shared one.
  void use_other_modes() {
    const std::string path = path_ + ".more";
    const int mode =
        MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN;
    must(MPI_File_open(MPI_COMM_WORLD, path.c_str(), mode, MPI_INFO_NULL, &file_), "open a new file");
    etype_ = MPI_BYTE;
    element_ = 1;
    Data data = some_data(between(1, 5000));
    write(1, MPI_Offset{5000} * rank_, data);
    finish_step();
    check(MPI_Offset{5000} * rank_, data, 2);
    must(MPI_File_close(&file_), "close");
    MPI_Barrier(MPI_COMM_WORLD);
    require(access(path.c_str(), F_OK) != 0, "a file is there that had to be deleted");
    MPI_Barrier(MPI_COMM_WORLD);
    must(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL,
                       MPI_INFO_NULL, &file_),
         "open a sequential file");
    for (int i = 0; i < 3; ++i) {
      must(EITHER(MPI_File_write_ordered, file_, data.memory.data(), 1 + rank_, MPI_BYTE, MPI_STATUS_IGNORE),
           "write_ordered");
    }
    must(MPI_File_close(&file_), "close");
    MPI_Barrier(MPI_COMM_WORLD);
    std::ifstream written(path, std::ios::binary);
    const std::string found{std::istreambuf_iterator<char>(written), {}};
    require(found.size() == static_cast<size_t>(3 * ranks_ * (ranks_ + 1) / 2), "a sequential file has another size");
    hash(reinterpret_cast<const unsigned char*>(found.data()), found.size());
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) unlink(path.c_str());
  }

  // The file ends within the read.
  void read_at_end() {
    MPI_Offset size = 0;
    must(MPI_File_get_size(file_, &size), "get_size");
    for (const int gap : {0, 8}) {
      etype_ = MPI_BYTE;
      element_ = 1;
      MPI_Datatype piece;
      EITHER_TYPE(MPI_Type_contiguous, 8, MPI_BYTE, &piece);
      set(size - 8 * 64, resized(Type(piece, true), 8 + gap));
      std::vector<unsigned char> got(1000, 77);
      MPI_Status status;
      must(EITHER(MPI_File_read_at_all, file_, rank_, got.data(), 1000, MPI_BYTE, &status), "read_at_all");
      MPI_Count bytes = 0;
      MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
      // MPIs return any number where there are gaps.
      const bool counts = std::getenv("TAILRACE_MPIIO") != nullptr && !atomic_;
      const MPI_Count there = gap == 0 ? 512 - rank_ : 256 - rank_;
      require(!counts || bytes == there, "a read at the end of the file has another number of bytes");
      require(!counts || got[static_cast<size_t>(there)] == 77, "a read changes memory behind its last byte");
      hash(got.data(), static_cast<size_t>(there));
    }
  }

  // Pieces in turn, which other processes may have written, from a file that nobody may write to.
  void read_all_of_it() {
    must(MPI_File_open(MPI_COMM_WORLD, path_.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file_), "open for reading");
    for (int round = 0; round < 6; ++round) {
      etype_ = MPI_INT;
      element_ = 4;
      set_interleaved(MPI_Offset{4} * below(3000));
      const bool apart = below(2) == 0;
      MPI_Datatype type;
      EITHER_TYPE(MPI_Type_vector, 2500, 1, apart ? 2 : 1, MPI_INT, &type);
      const Type held(type, true);
      std::vector<unsigned char> got(size_t{2500} * 2 * 4, 0);
      MPI_Status status;
      for (int i = 0; i < 3; ++i) {
        if (round % 2 == 0) {
          must(EITHER(MPI_File_read_all, file_, got.data(), 1, held.get(), &status), "read_all");
        } else {
          must(EITHER(MPI_File_read_at, file_, MPI_Offset{i} * 2600, got.data(), 1, held.get(), &status), "read_at");
        }
        hash(got.data(), got.size());
      }
    }
    must(MPI_File_close(&file_), "close");
    unsigned long long all = 0;
    const unsigned long long mine = hash_ * static_cast<unsigned>(2 * rank_ + 1);
    MPI_Reduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank_ == 0) std::printf("read %llx\n", all);
  }

  void hash(const unsigned char* bytes, size_t size) {
    for (size_t i = 0; i < size; ++i) hash_ = (hash_ ^ bytes[i]) * 1099511628211ULL;
  }

  int below(int limit) { return static_cast<int>(dice_() % static_cast<unsigned>(limit)); }
  int between(int low, int high) { return low + below(high - low + 1); }

  // ---- views: all of them give each process bytes of its own --------------------------------------------------

  void choose_view() {
    const MPI_Offset base = MPI_Offset{8} * below(2000);
    contiguous_ = false;
    switch (below(7)) {
      case 0: contiguous_ = true; return set(base, Type(etype_));
      case 1: return set_interleaved(base);
      case 2: return set_subarray(base);
      case 3: return set_indexed(base);
      case 4: return set_darray(base);
      case 5: return set_struct(base);
      default: return set_nested(base);
    }
  }

  void set(MPI_Offset displacement, const Type& filetype, bool one_is_empty = false) {
    int size = 0;
    MPI_Type_size(filetype.get(), &size);
    one_is_empty_ = one_is_empty;
    is_empty_ = size == 0;
    must(MPI_File_set_view(file_, displacement, etype_, filetype.get(), "native", MPI_INFO_NULL), "set_view");
  }

  // Pieces in turn.
  void set_interleaved(MPI_Offset base) {
    const int piece = between(1, 40);
    const int count = between(1, 30);
    MPI_Datatype type;
    EITHER_TYPE(MPI_Type_vector, count, piece, piece * ranks_, etype_, &type);
    set(base + MPI_Offset{rank_} * piece * element_,
        resized(Type(type, true), MPI_Aint{count} * piece * ranks_ * element_));
  }

  // A band of a matrix: of rows, or of columns.
  void set_subarray(MPI_Offset base) {
    const int width = between(1, 9);
    const int other = between(1, 50);
    const bool first = below(2) == 0;
    const Counts sizes{first ? width * ranks_ : other, first ? other : width * ranks_};
    const Counts parts{first ? width : other, first ? other : width};
    const Counts starts{first ? width * rank_ : 0, first ? 0 : width * rank_};
    const int order = below(2) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    set(base, Type(subarray(sizes, parts, starts, order, etype_), true));
  }

  // Pieces with gaps, of different lengths or of one. Perhaps one process has none at all.
  void set_indexed(MPI_Offset base) {
    const bool equal = below(3) == 0;
    const int one_length = between(1, 30);
    const int without = below(3) == 0 ? below(ranks_) : -1;
    Counts lengths;
    Counts places;
    int at = 0;
    for (int i = 0; i < 6 * ranks_; ++i) {
      const int length = equal ? one_length : between(1, 30);
      if (i % ranks_ == rank_ && rank_ != without) {
        lengths.push_back(length);
        places.push_back(at);
      }
      at += length + (below(3) == 0 ? between(1, 20) : 0);
    }
    const bool in_bytes = below(2) == 0;
    if (in_bytes) {
      for (MPI_Count& place : places) place *= element_;
    }
    MPI_Datatype type;
    if (equal) {
      type = in_bytes ? hindexed_block(one_length, places, etype_) : indexed_block(one_length, places, etype_);
    } else {
      type = in_bytes ? hindexed(lengths, places, etype_) : indexed(lengths, places, etype_);
    }
    const MPI_Aint extent = MPI_Aint{at} * element_;
    set(base, rank_ == without ? Type(type, true) : resized(Type(type, true), extent), without >= 0);
  }

  void set_darray(MPI_Offset base) {
    const Counts sizes{ranks_ * between(3, 9), between(1, 40)};  // so that each process has some
    const bool block = below(2) == 0;
    Distribution of{ranks_, rank_};
    of.kinds = {block ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    of.arguments = {block || below(2) == 0 ? MPI_DISTRIBUTE_DFLT_DARG : between(1, 3), MPI_DISTRIBUTE_DFLT_DARG};
    of.grid = {ranks_, 1};
    set(base, Type(darray(of, sizes, below(2) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, etype_), true));
  }

  // Two fields of a record; a record for each process in turn.
  void set_struct(MPI_Offset base) {
    const Counts lengths{between(1, 5), between(1, 5)};
    const MPI_Aint record = MPI_Aint{24} * element_;
    const Counts places{record * rank_, record * rank_ + MPI_Aint{12} * element_};
    set(base, resized(Type(structure(lengths, places, {etype_, etype_}), true), record * ranks_));
  }

  // A vector of vectors.
  void set_nested(MPI_Offset base) {
    MPI_Datatype inner;
    EITHER_TYPE(MPI_Type_vector, 3, 2, 4, etype_, &inner);
    const Type row = resized(Type(inner, true), MPI_Aint{16} * element_);
    MPI_Datatype outer;
    EITHER_TYPE(MPI_Type_create_hvector, between(1, 6), 1, MPI_Aint{16} * element_ * ranks_, row.get(), &outer);
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(outer, &lower, &extent);
    const MPI_Aint whole = (extent / (MPI_Aint{16} * element_ * ranks_) + 1) * MPI_Aint{16} * element_ * ranks_;
    set(base + MPI_Offset{16} * element_ * rank_, resized(Type(outer, true), whole));
  }

  // ---- writes -------------------------------------------------------------------------------------------------

  // Data that lie in memory as the type says; the values depend on seed, write and process alone.
  struct Data {
    std::vector<unsigned char> memory;
    Type type;
    int count;
    int elements;  // of etype
  };

  Data some_data(int elements) {
    if (below(3) > 0) {
      Data data{std::vector<unsigned char>(static_cast<size_t>(elements * element_)), Type(etype_), elements,
                elements};
      fill(data.memory);
      return data;
    }
    const int gap = between(1, 3);
    MPI_Datatype type;
    EITHER_TYPE(MPI_Type_vector, elements, 1, gap, etype_, &type);
    Data data{std::vector<unsigned char>(static_cast<size_t>(elements * gap * element_)), Type(type, true), 1,
              elements};
    fill(data.memory);
    return data;
  }

  void fill(std::vector<unsigned char>& memory) {
    const unsigned salt = static_cast<unsigned>(writes_) * 7919u + static_cast<unsigned>(rank_) * 104729u;
    for (size_t i = 0; i < memory.size(); ++i)
      memory[i] = static_cast<unsigned char>((salt + i * 31u) >> (i % 5) ^ salt);
  }

  void write_something() {
    ++writes_;
    // All processes draw equal numbers: the sequence of the dice must not depend on the rank.
    const int drawn = between(1, 200);
    const int elements = is_empty_ ? 0 : drawn;
    const MPI_Offset first = is_empty_ ? 0 * below(50) : below(50);
    const MPI_Offset at = contiguous_ ? first + MPI_Offset{300} * rank_ : first;
    Data data = some_data(elements);
    const int form = fit(below(contiguous_ ? 13 : 12));  // views must be equal for the shared pointer
    write(form, at, data);
    // A collective write may read and write the bytes between those of all processes, and may go on after a process
    // has returned from it: others must not write there, and it must not read its own bytes.
    MPI_Barrier(MPI_COMM_WORLD);
    const bool alone = form == 0 || form == 2 || form == 4 || form == 5 || form == 7 || form == 9;
    if (below(3) == 0 && alone) check(at, data, 2 + below(2));
    last_ = nullptr;
    last_at_ = at;
    if (form < 12) last_ = std::make_unique<Data>(std::move(data));
  }

  // OMPIO divides by the size of the view in nonblocking accesses and in split ones, and counts wrong in reads of
  // all.
  int fit(int form) const {
    const int blocking[] = {0, 1, 0, 1, 4, 5, 6, 5, 6, 9, 1, 6};
    return one_is_empty_ ? blocking[form] : form;
  }
  int fit_read(int form) const { return one_is_empty_ ? 2 + form % 2 : form; }

  void write(int form, MPI_Offset at, const Data& data) {
    MPI_Status status;
    MPI_Request request;
    const void* const from = data.memory.data();
    const MPI_Datatype type = data.type.get();
    const int n = data.count;
    const bool moves = (form >= 5 && form < 10) || form == 11;  // the file pointer
    if (moves) seek(at);
    switch (form) {
      case 0: must(EITHER(MPI_File_write_at, file_, at, from, n, type, &status), "write_at"); break;
      case 1: must(EITHER(MPI_File_write_at_all, file_, at, from, n, type, &status), "write_at_all"); break;
      case 2:
        must(EITHER(MPI_File_iwrite_at, file_, at, from, n, type, &request), "iwrite_at");
        must(MPI_Wait(&request, &status), "wait");
        break;
      case 3:
        must(EITHER(MPI_File_write_at_all_begin, file_, at, from, n, type), "write_at_all_begin");
        must(MPI_File_write_at_all_end(file_, from, &status), "write_at_all_end");
        break;
      case 4: must(EITHER(MPI_File_write_at, file_, at, from, n, type, MPI_STATUS_IGNORE), "write_at"); return;
      case 5: must(EITHER(MPI_File_write, file_, from, n, type, &status), "write"); break;
      case 6: must(EITHER(MPI_File_write_all, file_, from, n, type, &status), "write_all"); break;
      case 7:
        must(EITHER(MPI_File_iwrite, file_, from, n, type, &request), "iwrite");
        must(MPI_Wait(&request, &status), "wait");
        break;
      case 8:
        must(EITHER(MPI_File_write_all_begin, file_, from, n, type), "write_all_begin");
        must(MPI_File_write_all_end(file_, from, &status), "write_all_end");
        break;
      case 9:
        must(EITHER(MPI_File_write_all, file_, from, 0, type, &status), "write_all of nothing");
        must(EITHER(MPI_File_write, file_, from, n, type, &status), "write");
        break;
      case 10:
        must(EITHER(MPI_File_iwrite_at_all, file_, at, from, n, type, &request), "iwrite_at_all");
        wait_and_meet(request, status);
        break;
      case 11:
        must(EITHER(MPI_File_iwrite_all, file_, from, n, type, &request), "iwrite_all");
        wait_and_meet(request, status);
        break;
      default:
        // In turn, by the shared pointer: the MPI makes it.
        must(MPI_File_seek_shared(file_, 0, MPI_SEEK_SET), "seek_shared");
        must(EITHER(MPI_File_write_ordered, file_, from, 0, type, &status), "write_ordered of nothing");
        return;
    }
    MPI_Count bytes = 0;
    MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    // ROMIO leaves some statuses of an empty view as they were.
    require(is_empty_ || bytes == MPI_Count{data.elements} * element_, "a status has another number of bytes");
    if (!moves) return;
    check_position(at + data.elements);
  }

  // ROMIO divides by the size of the view's type.
  void seek(MPI_Offset at) {
    if (!is_empty_) must(MPI_File_seek(file_, at, MPI_SEEK_SET), "seek");
  }

  void check_position(MPI_Offset expected) {
    MPI_Offset position = 0;
    must(MPI_File_get_position(file_, &position), "get_position");
    require(is_empty_ || position == expected, "the file pointer is elsewhere");
  }

  // With tailrace, some processes wait for the others first, and some for the write, which needs all of them. MPICH's
  // own write makes no progress then.
  void wait_and_meet(MPI_Request& request, MPI_Status& status) {
    const bool mixes = std::getenv("TAILRACE_MPIIO") != nullptr && !atomic_;
    if (mixes && rank_ % 2 == 1) MPI_Barrier(MPI_COMM_WORLD);
    must(MPI_Wait(&request, &status), "wait");
    if (mixes && rank_ % 2 == 0) MPI_Barrier(MPI_COMM_WORLD);
  }

  // Reads the process's own bytes, in the same view. The first two forms need all processes.
  void check(MPI_Offset at, const Data& data, int form) {
    std::vector<unsigned char> got(data.memory.size(), 0);
    std::vector<unsigned char> expected(data.memory.size(), 0);
    MPI_Status status;
    MPI_Request request;
    const MPI_Datatype type = data.type.get();
    if (form % 2 == 1) seek(at);
    switch (form) {
      case 0:
        must(EITHER(MPI_File_read_at_all, file_, at, got.data(), data.count, type, &status), "read_at_all");
        break;
      case 1: must(EITHER(MPI_File_read_all, file_, got.data(), data.count, type, &status), "read_all"); break;
      case 2: must(EITHER(MPI_File_read_at, file_, at, got.data(), data.count, type, &status), "read_at"); break;
      case 3: must(EITHER(MPI_File_read, file_, got.data(), data.count, type, &status), "read"); break;
      case 4:
        must(EITHER(MPI_File_iread_at, file_, at, got.data(), data.count, type, &request), "iread_at");
        must(MPI_Wait(&request, &status), "wait");
        break;
      case 5:
        must(EITHER(MPI_File_iread, file_, got.data(), data.count, type, &request), "iread");
        must(MPI_Wait(&request, &status), "wait");
        break;
      case 6:
        must(EITHER(MPI_File_read_at_all_begin, file_, at, got.data(), data.count, type), "read_at_all_begin");
        must(MPI_File_read_at_all_end(file_, got.data(), &status), "read_at_all_end");
        break;
      default:
        must(EITHER(MPI_File_read_all_begin, file_, got.data(), data.count, type), "read_all_begin");
        must(MPI_File_read_all_end(file_, got.data(), &status), "read_all_end");
    }
    require_count(status, data);
    if (form % 2 == 1) check_position(at + data.elements);
    // Bytes between the elements stay as they were.
    const size_t gap = data.memory.size() / static_cast<size_t>(std::max(data.elements, 1));
    for (size_t i = 0; i < expected.size(); ++i) {
      if (i % gap < static_cast<size_t>(element_)) expected[i] = data.memory[i];
    }
    require(got == expected, "a read has other bytes than the last write");
  }

  // Reads them by nonblocking calls that are under way together, and end in any order. (Some end with an error if
  // MPICH makes them.)
  void check_at_once(MPI_Offset at, const Data& data) {
    if (std::getenv("TAILRACE_MPIIO") == nullptr) return check(at, data, 2);
    constexpr int kReads = 3;
    std::vector<std::vector<unsigned char>> got(kReads, std::vector<unsigned char>(data.memory.size(), 0));
    MPI_Request requests[kReads];
    MPI_Status statuses[kReads];
    const MPI_Datatype type = data.type.get();
    must(EITHER(MPI_File_iread_at, file_, at, got[0].data(), data.count, type, &requests[0]), "iread_at");
    must(EITHER(MPI_File_iread_at_all, file_, at, got[1].data(), data.count, type, &requests[1]), "iread_at_all");
    seek(at);
    must(EITHER(MPI_File_iread_all, file_, got[2].data(), data.count, type, &requests[2]), "iread_all");
    check_position(at + data.elements);
    const bool last_first = rank_ % 2 == 0;
    if (last_first) must(MPI_Wait(&requests[2], &statuses[2]), "wait");
    const int left = last_first ? 2 : 3;
    int done = 0;
    if (writes_ % 2 == 0) {
      while (done == 0) must(MPI_Testall(left, requests, &done, statuses), "testall");
    } else {
      must(MPI_Waitall(left, requests, statuses), "waitall");
    }
    for (int i = 0; i < kReads; ++i) {
      require_count(statuses[i], data);
      require(got[static_cast<size_t>(i)] == data.memory, "a read has other bytes than the last write");
    }
  }

  void require_count(const MPI_Status& status, const Data& data) const {
    MPI_Count bytes = 0;
    MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    require(is_empty_ || bytes == MPI_Count{data.elements} * element_, "a read has another number of bytes");
  }

  void toggle_atomic() {
    atomic_ = !atomic_;
    must(MPI_File_set_atomicity(file_, atomic_ ? 1 : 0), "set_atomicity");
  }

  void finish_step() {
    must(MPI_File_sync(file_), "sync");
    MPI_Barrier(MPI_COMM_WORLD);
    must(MPI_File_sync(file_), "sync");
  }

  void look_at_size() {
    MPI_Offset size = 0;
    must(MPI_File_get_size(file_, &size), "get_size");
    MPI_Barrier(MPI_COMM_WORLD);
    if (below(3) == 0) must(MPI_File_set_size(file_, size + below(500)), "set_size");
  }

  const std::string path_;
  std::mt19937 dice_;
  int rank_ = 0;
  int ranks_ = 1;
  MPI_File file_ = MPI_FILE_NULL;
  MPI_Datatype etype_ = MPI_BYTE;
  int element_ = 1;
  bool contiguous_ = false;
  bool one_is_empty_ = false;  // the view of one process has no data
  bool is_empty_ = false;      // this process's
  bool atomic_ = false;
  int writes_ = 0;
  std::unique_ptr<Data> last_;  // the step's last write, if each process has the bytes to itself
  MPI_Offset last_at_ = 0;
  unsigned long long hash_ = 14695981039346656037ULL;  // of what has been read (FNV-1a)
};

}  // namespace

int main(int argc, char** argv) {
  const bool threads = argc == 4 && std::strcmp(argv[3], "threads") == 0;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  require(argc == 3 || threads, "usage: mpiio_random_io FILE SEED [threads]");
  require(!threads || provided == MPI_THREAD_MULTIPLE, "this MPI has no MPI_THREAD_MULTIPLE");
#ifdef MPICH_NUMVERSION
  large_types = MPICH_NUMVERSION >= 40100000;
#endif
  const std::string path = argv[1];
  const auto seed = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
  Program first(path, seed);
  Program other(path + ".other", seed + 7'919);
  for (int step = 0; step < 12; ++step) {
    first.write_some();
    other.write_some();
    first.settle();
    other.settle();
  }
  first.write_much();
  first.write_fine();
  first.end();
  other.end();
  MPI_Finalize();
  return 0;
}
