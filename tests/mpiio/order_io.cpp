// A random program whose processes rely on the order that their messages give: mpiio_order_io FILE SEED. What one
// process has written is there for another one after a message or a collective call, without a sync. Every MPI keeps
// that on a local file system.
//
// It runs in phases. In a phase, no byte is written by one process and used by another one. All processes make the
// same choices, so each knows what the file contains, and checks what it reads. The file is open several times in
// each process, and loses its name, or another file gets it.
#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int kChunk = 9'973;  // bytes; no multiple of a page
constexpr int kChunks = 48;
constexpr int kSpread = 24;     // chunks of a strided write
constexpr int kPieces = 3'000;  // writes of a few bytes, more than a process remembers one by one
constexpr int kPhases = 40;

void must(int error, const char* call) {
  if (error == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(error, text, &length);
  std::fprintf(stderr, "mpiio_order_io: %s: %s\n", call, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

class Program {
 public:
  Program(std::string path, unsigned seed) : path_(std::move(path)), dice_(seed) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    open(MPI_COMM_WORLD, MPI_MODE_CREATE | MPI_MODE_RDWR);
    open(MPI_COMM_SELF, MPI_MODE_RDWR);
    open(MPI_COMM_WORLD, MPI_MODE_RDWR);
    open(MPI_COMM_SELF, MPI_MODE_RDONLY);
#ifdef MPICH_VERSION
    open(MPI_COMM_SELF, MPI_MODE_RDONLY, "ufs:");  // the library leaves such a name to the MPI
#endif
  }

  void run() {
    for (phase_ = 0; phase_ < kPhases; ++phase_) {
      const int what = below(10);
      if (what == 0) {
        look_at_size();
      } else if (what == 1) {
        change_size();
      } else if (what == 2) {
        write_strided();
      } else if (what == 3) {
        change_name();
      } else if (what == 4) {
        write_pieces();
      } else if (what == 5) {
        read(below(4), below(kChunks) * kChunk, kChunks * kChunk);  // beyond its end
      } else {
        use_chunks();
      }
      communicate();
    }
    read(1, 0, static_cast<int>(model_.size()));
    for (MPI_File& file : files_) must(MPI_File_close(&file), "close");
    MPI_Barrier(MPI_COMM_WORLD);
  }

 private:
  int below(int bound) { return static_cast<int>(dice_() % static_cast<unsigned>(bound)); }
  static unsigned char value(int phase, int at) { return static_cast<unsigned char>(phase * 31 + at * 7 + 1); }

  void open(MPI_Comm comm, int mode, const std::string& kind = "") {
    MPI_Info hints;  // ROMIO and Open MPI would read bytes between the pieces of a view, and write them again
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "romio_ds_write", "disable");
    MPI_Info_set(hints, "romio_cb_write", "disable");
    files_.emplace_back();
    must(MPI_File_open(comm, (kind + path_).c_str(), mode, hints, &files_.back()), "open");
    MPI_Info_free(&hints);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  // Each chunk belongs to one process, which writes or reads it, or to nobody. (A read beyond the end would depend on
  // the others' writes.)
  void use_chunks() {
    const int size = static_cast<int>(model_.size());
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      const int owner = below(ranks_ + 1);
      const bool writes = below(2) == 0;
      const int handle = below(writes ? 3 : static_cast<int>(files_.size()));
      const int begin = chunk * kChunk + below(100);
      const int length = kChunk - 200 + below(100);
      if (owner == ranks_) continue;
      if (writes) {
        if (owner == rank_) write(handle, begin, length);
        expect(begin, length);
      } else if (owner == rank_ && begin + length <= size) {
        read(handle, begin, length);
      }
    }
  }

  // Each process writes every so-and-so-many-th chunk of the file by a view.
  void write_strided() {
    const int first = kChunk * kSpread * below(2);
    const int block = 1 + below(kChunk - 1);
    write_by_view(first + rank_ * block, block, kSpread / 4);
    expect(first, kSpread / 4 * ranks_ * block);
  }

  // Each process writes many pieces between those of the others, in one call; then it writes the pieces of another
  // one, in a call for each.
  void write_pieces() {
    const int length = 1 + below(8);
    const int first = below(2) * kChunk;
    const auto place = [&](int piece, int of) { return first + (piece * ranks_ + of % ranks_) * length; };
    write_by_view(place(0, rank_), length, kPieces);
    communicate();
    ++phase_;
    const int shift = below(ranks_);
    for (int piece = 0; piece < kPieces; ++piece) write(0, place(piece, rank_ + shift), length);
    expect(first, kPieces * ranks_ * length);
  }

  // Writes every so-and-so-many-th block, in one call.
  void write_by_view(int begin, int block, int blocks) {
    MPI_Datatype type;
    MPI_Type_vector(blocks, block, block * ranks_, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    must(MPI_File_set_view(files_[2], begin, MPI_BYTE, type, const_cast<char*>("native"), MPI_INFO_NULL), "set_view");
    std::vector<unsigned char> bytes;
    for (int piece = 0; piece < blocks; ++piece) {
      const int at = begin + piece * ranks_ * block;
      for (int i = 0; i < block; ++i) bytes.push_back(value(phase_, at + i));
    }
    must(MPI_File_write_at(files_[2], 0, bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, MPI_STATUS_IGNORE),
         "strided write");
    must(MPI_File_set_view(files_[2], 0, MPI_BYTE, MPI_BYTE, const_cast<char*>("native"), MPI_INFO_NULL), "set_view");
    MPI_Type_free(&type);
  }

  void write(int handle, int begin, int length) {
    std::vector<unsigned char> bytes(static_cast<size_t>(length));
    for (int i = 0; i < length; ++i) bytes[static_cast<size_t>(i)] = value(phase_, begin + i);
    must(MPI_File_write_at(files_[static_cast<size_t>(handle)], begin, bytes.data(), length, MPI_BYTE,
                           MPI_STATUS_IGNORE),
         "write");
  }

  void expect(int begin, int length) {
    if (model_.size() < static_cast<size_t>(begin + length)) model_.resize(static_cast<size_t>(begin + length));
    for (int i = begin; i < begin + length; ++i) model_[static_cast<size_t>(i)] = value(phase_, i);
  }

  void read(int handle, int begin, int length) {
    const int end = std::min(begin + length, static_cast<int>(model_.size()));
    std::vector<unsigned char> found(static_cast<size_t>(length) + 1);
    MPI_Status status;
    must(MPI_File_read_at(files_[static_cast<size_t>(handle)], begin, found.data(), length, MPI_BYTE, &status),
         "read");
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    if (count != std::max(end - begin, 0))
      wrong("a read got another number of bytes", count, std::max(end - begin, 0));
    for (int i = 0; i < count; ++i) {
      const unsigned char right = model_[static_cast<size_t>(begin + i)];
      if (found[static_cast<size_t>(i)] != right) wrong("a read got a wrong byte", begin + i, right);
    }
  }

  void look_at_size() {
    MPI_Offset size = 0;
    must(MPI_File_get_size(files_[static_cast<size_t>(below(4))], &size), "get_size");
    if (size != static_cast<MPI_Offset>(model_.size()))
      wrong("the size", size, static_cast<MPI_Offset>(model_.size()));
  }

  // One process does it by its own opening, or all by theirs.
  void change_size() {
    const int size = below(kChunks) * kChunk;
    const int who = below(ranks_ + 1);
    if (who == ranks_) {
      must(MPI_File_set_size(files_[0], size), "set_size");
    } else if (who == rank_) {
      must(MPI_File_set_size(files_[1], size), "set_size");
    }
    model_.resize(static_cast<size_t>(size));
  }

  // The file loses its name, and another one gets it.
  void change_name() {
    const bool renames = below(2) == 0;
    if (rank_ != 0) return;
    if (renames) {
      ::rename(path_.c_str(), (path_ + ".renamed").c_str());
    } else {
      ::unlink(path_.c_str());
    }
    std::ofstream(path_) << std::string(100'000, 'x');
  }

  void communicate() {
    MPI_Request request;
    int token = phase_;
    switch (below(4)) {
      case 0: MPI_Barrier(MPI_COMM_WORLD); break;
      case 1: {
        int sum = 0;
        MPI_Allreduce(&token, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        break;
      }
      case 2:
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
      default: pass_round(); pass_round();
    }
  }

  // A message from each process to the next; twice round, all have heard of all.
  void pass_round() {
    int token = phase_;
    if (rank_ > 0) MPI_Recv(&token, 1, MPI_INT, rank_ - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (ranks_ > 1) MPI_Send(&token, 1, MPI_INT, (rank_ + 1) % ranks_, 1, MPI_COMM_WORLD);
    if (rank_ == 0 && ranks_ > 1) MPI_Recv(&token, 1, MPI_INT, ranks_ - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  void wrong(const char* what, long long found, long long right) const {
    std::fprintf(stderr, "mpiio_order_io: phase %d, rank %d: %s: found %lld, expected %lld\n", phase_, rank_, what,
                 found, right);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

  const std::string path_;
  std::mt19937 dice_;  // the same in all processes
  int rank_ = 0;
  int ranks_ = 1;
  int phase_ = 0;
  // Opened by all, by each alone, by all once more, and by each alone to read only.
  std::vector<MPI_File> files_;
  std::vector<unsigned char> model_;  // the file
};

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  if (count != 3) {
    std::fprintf(stderr, "usage: mpiio_order_io FILE SEED\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  Program(words[1], static_cast<unsigned>(std::stoul(words[2]))).run();
  MPI_Finalize();
  return 0;
}
