// Writes rounds until it is told to stop, or for a given number of rounds, and prints what becomes of them:
// mpiio_endless FILE FORM ROUNDS BYTES HANDLER CYCLE. tests/python/mpiio/test_mpiio_faults.py kills it meanwhile, or
// gives it a full disk.
//
// FORM: write (each rank by itself), write_all, iwrite_all, split; or iwrite_all with more before the wait: barrier,
// dup: a call of all ranks; pair: a second request; other: some ranks close another file, and some after it.
// ROUNDS 0: it ends when FILE.stop exists. BYTES: of a rank in a round. HANDLER: default, fatal, fatal_default (for
// all files), or count, which prints its calls. CYCLE: cb_buffer_size; 0: no hint.
//
// In FILE, each word of 8 bytes is its number, from 1 on, and the ranks take turns of 16 KiB. Endless ranks also
// rewrite one word each of FILE.head, with the number of the round.
#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int kTurn = 16 << 10;  // bytes

int rank = 0;
int ranks = 1;
std::string file_path;
bool failed = false;  // a call of this rank, in this round

// Prints a line as one write, so that it stays whole.
void say(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

std::string name_of(int error) {
  int of = MPI_SUCCESS;
  MPI_Error_class(error, &of);
  if (of == MPI_ERR_NO_SPACE) return "MPI_ERR_NO_SPACE";
  return of == MPI_ERR_IO ? "MPI_ERR_IO" : "class " + std::to_string(of);
}

// Prints "error RANK CALL CLASS" if the call has failed.
void look(int error, const char* call) {
  if (error == MPI_SUCCESS) return;
  failed = true;
  say("error " + std::to_string(rank) + " " + call + " " + name_of(error));
}

void count(MPI_File*, int* error, ...) { say("handler " + std::to_string(rank) + " " + name_of(*error)); }

// Makes the processes do something together before they wait.
void meet_before_wait(const std::string& form) {
  if (form == "barrier") MPI_Barrier(MPI_COMM_WORLD);
  if (form == "dup") {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm_free(&made);
  }
}

MPI_File open(const std::string& path, int cycle) {
  MPI_Info info = MPI_INFO_NULL;
  if (cycle > 0) {
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", std::to_string(cycle).c_str());
  }
  MPI_File file = MPI_FILE_NULL;
  if (MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY, info, &file) != MPI_SUCCESS) {
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  return file;
}

// Ends a request while others first close a file.
void wait_in_turn(MPI_Request& request, MPI_File other) {
  if (rank % 2 == 0) look(MPI_File_close(&other), "close");
  look(MPI_Wait(&request, MPI_STATUS_IGNORE), "wait");
  if (rank % 2 == 1) look(MPI_File_close(&other), "close");
}

void write(MPI_File file, const std::string& form, MPI_Offset at, const std::vector<uint64_t>& words) {
  const auto count = static_cast<int>(words.size());
  const MPI_Datatype type = MPI_UINT64_T;
  if (form == "write") {
    look(MPI_File_write_at(file, at, words.data(), count, type, MPI_STATUS_IGNORE), "write_at");
  } else if (form == "write_all") {
    look(MPI_File_write_at_all(file, at, words.data(), count, type, MPI_STATUS_IGNORE), "write_at_all");
  } else if (form == "split") {
    look(MPI_File_write_at_all_begin(file, at, words.data(), count, type), "write_at_all_begin");
    look(MPI_File_write_at_all_end(file, words.data(), MPI_STATUS_IGNORE), "write_at_all_end");
  } else if (form == "pair") {
    const int half = count / 2;
    MPI_Request first = MPI_REQUEST_NULL;
    MPI_Request second = MPI_REQUEST_NULL;
    look(MPI_File_iwrite_at_all(file, at, words.data(), half, type, &first), "iwrite_at_all");
    look(MPI_File_iwrite_at_all(file, at + half, words.data() + half, count - half, type, &second), "iwrite_at_all");
    look(MPI_Wait(&first, MPI_STATUS_IGNORE), "first wait");
    look(MPI_Wait(&second, MPI_STATUS_IGNORE), "second wait");
  } else {
    MPI_File other = form == "other" ? open(file_path + ".other", 0) : MPI_FILE_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    look(MPI_File_iwrite_at_all(file, at, words.data(), count, type, &request), "iwrite_at_all");
    if (form == "other") return wait_in_turn(request, other);
    meet_before_wait(form);
    look(MPI_Wait(&request, MPI_STATUS_IGNORE), "wait");
  }
}

// Shows each rank its turns.
void set_view(MPI_File file) {
  MPI_Datatype turn = MPI_DATATYPE_NULL;
  MPI_Datatype turns = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(kTurn, MPI_BYTE, &turn);
  MPI_Type_create_resized(turn, 0, MPI_Aint{kTurn} * ranks, &turns);
  MPI_Type_commit(&turns);
  MPI_File_set_view(file, MPI_Offset{rank} * kTurn, MPI_UINT64_T, turns, "native", MPI_INFO_NULL);
  MPI_Type_free(&turn);
  MPI_Type_free(&turns);
}

void set_handler(MPI_File file, const std::string& handler) {
  if (handler == "fatal") MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
  if (handler != "count") return;
  MPI_Errhandler made = MPI_ERRHANDLER_NULL;
  MPI_File_create_errhandler(count, &made);
  MPI_File_set_errhandler(file, made);
  MPI_Errhandler_free(&made);
}

// Fills the words of the view from `first` on with their numbers in the file.
void fill(std::vector<uint64_t>& words, uint64_t first) {
  constexpr uint64_t kWords = kTurn / 8;
  for (uint64_t i = 0; i < words.size(); ++i) {
    const uint64_t in_view = first + i;
    const auto turn = in_view / kWords * static_cast<uint64_t>(ranks) + static_cast<uint64_t>(rank);
    words[i] = turn * kWords + in_view % kWords + 1;
  }
}

// Returns true if rank 0 has found the file; all ranks agree.
bool told_to_stop(const std::string& path) {
  int found = rank == 0 && access(path.c_str(), F_OK) == 0 ? 1 : 0;
  MPI_Bcast(&found, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return found != 0;
}

// Rank 0 prints how the round has ended for all.
void tell_round(int round) {
  int mine = failed ? 1 : 0;
  int any = 0;
  MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) say((any != 0 ? "failed " : "synced ") + std::to_string(round));
  failed = false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string path = file_path = argv[1];
  const std::string form = argv[2];
  const int rounds = std::atoi(argv[3]);
  const bool endless = rounds == 0;
  std::vector<uint64_t> words(static_cast<size_t>(std::atoi(argv[4])) / 8);
  say("pid " + std::to_string(rank) + " " + std::to_string(getpid()));
  if (std::string(argv[5]) == "fatal_default") MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
  MPI_File file = open(path, std::atoi(argv[6]));
  MPI_File head = endless ? open(path + ".head", 0) : MPI_FILE_NULL;
  set_handler(file, argv[5]);
  set_view(file);
  for (int round = 0; endless ? !told_to_stop(path + ".stop") : round < rounds; ++round) {
    const auto first = static_cast<uint64_t>(round) * words.size();
    fill(words, first);
    if (endless) write(head, form, MPI_Offset{rank} * 8, {static_cast<uint64_t>(round)});
    write(file, form, static_cast<MPI_Offset>(first), words);
    look(MPI_File_sync(file), "sync");
    if (endless) look(MPI_File_sync(head), "sync");
    tell_round(round);
  }
  look(MPI_File_close(&file), "close");
  if (endless) look(MPI_File_close(&head), "close");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) say("ended");
  MPI_Finalize();
  return 0;
}
