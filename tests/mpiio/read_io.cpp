// Nonblocking collective reads of pieces that processes have in turn: mpiio_read_io WAY FILE. Prints "right" in the
// first process if all bytes are.
//
// calls: no process calls the MPI until its bytes are there.
// orders: two processes begin the reads of two files in different orders.
// late: a process begins its part of a read only when another one, which has begun its own, has read something else.
// split: by a split call, beyond the end of the file.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr int kPiece = 8;
constexpr int kBytes = kPiece * 20'000;  // of each process

int rank = 0;
int ranks = 1;

char byte_of(int process) { return static_cast<char>('a' + process); }

MPI_File write_file(const std::string& path) {
  MPI_File file = MPI_FILE_NULL;
  MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_Datatype piece = MPI_DATATYPE_NULL;
  MPI_Datatype pieces = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(kPiece, MPI_BYTE, &piece);
  MPI_Type_create_resized(piece, 0, MPI_Aint{kPiece} * ranks, &pieces);
  MPI_Type_commit(&pieces);
  MPI_File_set_view(file, MPI_Offset{kPiece} * rank, MPI_BYTE, pieces, "native", MPI_INFO_NULL);
  MPI_Type_free(&pieces);
  MPI_Type_free(&piece);
  const std::vector<char> bytes(kBytes, byte_of(rank));
  MPI_File_write_at_all(file, 0, bytes.data(), kBytes, MPI_BYTE, MPI_STATUS_IGNORE);
  return file;
}

MPI_Request begin(MPI_File file, std::vector<char>& to) {
  MPI_Request request = MPI_REQUEST_NULL;
  to.assign(kBytes, 0);
  MPI_File_iread_at_all(file, 0, to.data(), kBytes, MPI_BYTE, &request);
  return request;
}

bool is_right(const std::vector<char>& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == byte_of(rank); });
}

bool waits_without_calls(const std::vector<char>& bytes) {
  const volatile char* const last = &bytes.back();
  for (int tries = 0; tries < 30'000; ++tries) {
    if (*last != 0 && is_right(bytes)) return true;
    usleep(1000);
  }
  return false;
}

bool calls(MPI_File file) {
  std::vector<char> bytes;
  MPI_Request request = begin(file, bytes);
  const bool right = waits_without_calls(bytes);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return right;
}

bool orders(MPI_File file, MPI_File other) {
  std::vector<char> bytes;
  std::vector<char> others;
  MPI_Request requests[2];
  if (rank % 2 == 0) requests[0] = begin(file, bytes);
  requests[1] = begin(other, others);
  if (rank % 2 == 1) requests[0] = begin(file, bytes);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  return is_right(bytes) && is_right(others);
}

bool late(MPI_File file) {
  std::vector<char> bytes;
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank > 0) MPI_Recv(nullptr, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  request = begin(file, bytes);
  char alone = 0;
  if (rank == 0) {
    MPI_Request own = MPI_REQUEST_NULL;
    MPI_File_iread_at(file, kBytes - 1, &alone, 1, MPI_BYTE, &own);
    MPI_Wait(&own, MPI_STATUS_IGNORE);
    for (int to = 1; to < ranks; ++to) MPI_Send(nullptr, 0, MPI_BYTE, to, 0, MPI_COMM_WORLD);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return is_right(bytes) && (rank > 0 || alone == byte_of(rank));
}

bool split(MPI_File file) {
  std::vector<char> bytes(2 * kBytes, 0);
  MPI_File_read_at_all_begin(file, 0, bytes.data(), 2 * kBytes, MPI_BYTE);
  MPI_Status status;
  MPI_File_read_at_all_end(file, bytes.data(), &status);
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  bytes.resize(kBytes);
  return count == kBytes && is_right(bytes);
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string way = words[1];
  MPI_File file = write_file(words[2]);
  MPI_File other = write_file(std::string(words[2]) + ".other");
  bool right = false;
  if (way == "calls") right = calls(file);
  if (way == "orders") right = orders(file, other);
  if (way == "late") right = late(file);
  if (way == "split") right = split(file);
  MPI_File_close(&other);
  MPI_File_close(&file);
  bool all = false;
  MPI_Reduce(&right, &all, 1, MPI_CXX_BOOL, MPI_LAND, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%s\n", all ? "right" : "wrong");
  MPI_Finalize();
}
