// Collective writes whose bytes meet in a buffer of the node: mpiio_buffer_io WAY FILE. Prints "right" in the first
// process if the files are, or has the file to be looked at (`leave`, `signal`).
//
// plain: without a view, the file has no buffer.
// views: a view, a write, and reads of others' bytes after a barrier, again and again, at the same place.
// mixed: writes without the buffer come before writes that fill it, and between them.
// many: 90 writes of the same bytes. Between the view and these, the first process writes a profile of trials, as
//   another program might, if PROFILE names a file for it.
// empty: 90 writes in which no process has bytes.
// later: two small blocking writes, then nonblocking ones.
// files: 70 files at a time, and a process that comes late to the writes.
// message: while the others write, a process waits for a large message of one that writes.
// memory: one process may not have the memory.
// leave, signal: a process leaves without closing the file, while another one is behind.
#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

constexpr int kPiece = 100;

int rank = 0;
int ranks = 1;

char byte_of(int process, int round) { return static_cast<char>('a' + (process + round) % 26); }

MPI_File open_file(const std::string& path) {
  MPI_File file = MPI_FILE_NULL;
  MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  return file;
}

// Gives the processes pieces in turn.
void set_view(MPI_File file) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Datatype resized = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(kPiece, MPI_BYTE, &type);
  MPI_Type_create_resized(type, 0, MPI_Aint{kPiece} * ranks, &resized);
  MPI_Type_commit(&resized);
  MPI_File_set_view(file, MPI_Offset{kPiece} * rank, MPI_BYTE, resized, "native", MPI_INFO_NULL);
  MPI_Type_free(&type);
  MPI_Type_free(&resized);
}

void write(MPI_File file, const std::vector<char>& bytes, bool later) {
  const int count = static_cast<int>(bytes.size());
  if (!later) {
    MPI_File_write_at_all(file, 0, bytes.data(), count, MPI_BYTE, MPI_STATUS_IGNORE);
    return;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_File_iwrite_at_all(file, 0, bytes.data(), count, MPI_BYTE, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

bool is_right(const std::vector<char>& bytes, int round) {
  for (size_t at = 0; at < bytes.size(); ++at) {
    if (bytes[at] != byte_of(static_cast<int>(at / kPiece) % ranks, round)) return false;
  }
  return true;
}

bool is_file_right(const std::string& path, size_t size) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  return bytes.size() == size && is_right(bytes, 0);
}

// Returns true if this process has mapped a buffer.
bool has_buffer() {
  std::ifstream maps("/proc/self/maps");
  const std::string text{std::istreambuf_iterator<char>(maps), {}};
  return text.find(".buffer-") != std::string::npos;
}

bool plain(const std::string& path) {
  MPI_File file = open_file(path);
  const std::vector<char> bytes(kPiece, byte_of(rank, 0));
  MPI_File_write_at_all(file, MPI_Offset{kPiece} * rank, bytes.data(), kPiece, MPI_BYTE, MPI_STATUS_IGNORE);
  const bool has = has_buffer();
  MPI_File_close(&file);
  return !has && is_file_right(path, size_t{kPiece} * static_cast<size_t>(ranks));
}

bool views(const std::string& path) {
  bool right = true;
  MPI_File file = open_file(path);
  const size_t size = size_t{200} * kPiece;
  std::vector<char> all(size * static_cast<size_t>(ranks));
  for (int round = 0; round < 40; ++round) {
    set_view(file);
    if (rank == round % ranks) usleep(2000);
    write(file, std::vector<char>(size, byte_of(rank, round)), round % 3 != 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, all.data(), static_cast<int>(all.size()), MPI_BYTE, MPI_STATUS_IGNORE);
    right = right && has_buffer() && is_right(all, round);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_File_close(&file);
  return right;
}

bool mixed(const std::string& path) {
  MPI_File file = open_file(path);
  const std::vector<char> header(1000, 'h');
  MPI_File_write_at_all(file, 0, header.data(), static_cast<int>(header.size()), MPI_BYTE, MPI_STATUS_IGNORE);
  set_view(file);
  const std::vector<char> bytes(size_t{kPiece} * (400 << 10), byte_of(rank, 0));
  for (const char* way : {"auto", "individual", "dynamic", "auto"}) {
    MPI_Info hints = MPI_INFO_NULL;
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "tailrace_collective", way);
    MPI_File_set_info(file, hints);
    MPI_Info_free(&hints);
    write(file, bytes, false);
  }
  MPI_File_close(&file);
  return rank != 0 || is_file_right(path, bytes.size() * static_cast<size_t>(ranks));
}

bool many(const std::string& path, size_t pieces) {
  MPI_File file = open_file(path);
  set_view(file);
  if (const char* const profile = std::getenv("PROFILE"); profile != nullptr && rank == 0) {
    std::ofstream(profile) << "tailrace mpiio profile 1\nanother pattern\tauto 1 s\t 0 1 1\n";
  }
  const std::vector<char> bytes(kPiece * pieces, byte_of(rank, 0));
  for (int i = 0; i < 90; ++i) write(file, bytes, i % 10 == 9);
  MPI_File_close(&file);
  return rank != 0 || is_file_right(path, bytes.size() * static_cast<size_t>(ranks));
}

bool later(const std::string& path) {
  MPI_File file = open_file(path);
  set_view(file);
  for (int i = 0; i < 2; ++i) write(file, std::vector<char>(kPiece, byte_of(rank, 0)), false);
  const std::vector<char> bytes(size_t{kPiece} * 10'000, byte_of(rank, 0));
  for (int i = 0; i < 4; ++i) write(file, bytes, true);
  MPI_File_close(&file);
  return rank != 0 || is_file_right(path, bytes.size() * static_cast<size_t>(ranks));
}

bool files(const std::string& path) {
  constexpr int kFiles = 70;
  const size_t size = size_t{100} * kPiece;
  std::vector<MPI_File> opened;
  for (int i = 0; i < kFiles; ++i) {
    opened.push_back(open_file(path + std::to_string(i)));
    set_view(opened.back());
  }
  if (rank == 1) usleep(300'000);  // the others are ahead
  for (MPI_File file : opened) write(file, std::vector<char>(size, byte_of(rank, 0)), true);
  MPI_Barrier(MPI_COMM_WORLD);
  for (MPI_File& file : opened) MPI_File_close(&file);
  bool right = true;
  for (int i = 0; i < kFiles; ++i) {
    right = right && is_file_right(path + std::to_string(i), size * static_cast<size_t>(ranks));
  }
  return right;
}

// The first process fills the buffer before the second one, which waits for its message, begins to write.
bool message(const std::string& path) {
  const size_t size = size_t{1'000'000};
  MPI_File file = open_file(path);
  set_view(file);
  std::vector<char> large(size_t{32} << 20, 'm');
  MPI_Request request = MPI_REQUEST_NULL;
  const int count = static_cast<int>(large.size());
  if (rank == 0) MPI_Isend(large.data(), count, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
  if (rank == 1) usleep(300'000);
  if (rank == 1) MPI_Recv(large.data(), count, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const std::vector<char> bytes(size, byte_of(rank, 0));
  for (int i = 0; i < 100; ++i) {
    MPI_File_write_all(file, bytes.data(), static_cast<int>(size), MPI_BYTE, MPI_STATUS_IGNORE);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  return is_file_right(path, size * 100 * static_cast<size_t>(ranks));
}

bool memory(const std::string& path) {
  if (rank == ranks - 1) {
    const rlimit limit{8 << 20, 8 << 20};  // of a file
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  const size_t size = size_t{1000} * kPiece;
  MPI_File file = open_file(path);
  set_view(file);
  write(file, std::vector<char>(size, byte_of(rank, 0)), false);
  write(file, std::vector<char>(size, byte_of(rank, 0)), true);
  MPI_File_close(&file);
  return is_file_right(path, size * static_cast<size_t>(ranks));
}

// Only the first process has written when it leaves.
void leave(const std::string& path, bool by_signal) {
  MPI_File file = open_file(path);
  set_view(file);
  if (rank == 0) write(file, std::vector<char>(size_t{100} * kPiece, 'a'), true);
  std::printf("left\n");
  std::fflush(stdout);
  if (rank == 0 && by_signal) raise(SIGTERM);
  if (rank == 0) std::exit(0);
  usleep(1'000'000);
  std::exit(0);
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  MPI_Init(nullptr, nullptr);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string way = words[1];
  if (way == "leave" || way == "signal") leave(words[2], way == "signal");
  bool right = false;
  if (way == "plain") right = plain(words[2]);
  if (way == "views") right = views(words[2]);
  if (way == "mixed") right = mixed(words[2]);
  if (way == "many") right = many(words[2], 2000);
  if (way == "empty") right = many(words[2], 0);
  if (way == "later") right = later(words[2]);
  if (way == "files") right = files(words[2]);
  if (way == "message") right = message(words[2]);
  if (way == "memory") right = memory(words[2]);
  bool all = false;
  MPI_Reduce(&right, &all, 1, MPI_CXX_BOOL, MPI_LAND, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%s\n", all ? "right" : "wrong");
  MPI_Finalize();
}
