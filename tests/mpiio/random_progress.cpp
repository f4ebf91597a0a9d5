// A random program that calls MPI between the begin and the wait of collective writes: mpiio_random_progress FILE
// SEED [trace]. Run it with an algorithm for collective accesses. It ends, with right files, if every call that waits
// makes progress of the writes, and waits for nothing else than it needs.
//
// All processes draw the same sequence of events, and each carries out those that it belongs to. An event waits only
// for processes that are in it, or have begun a write in an earlier one. So the sequence itself is an order in which
// everything can end, and the program is right by the standard, whatever waits.
#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int kTurn = 64;           // words of a process in the file, before those of the next one
constexpr int kWords = 40 * kTurn;  // of a process in a write
constexpr int kWrites = 6;          // nonblocking ones to a file
constexpr int kAtOnce = 2;          // of these, before the first is waited for

int rank = 0;
int ranks = 1;
std::string base;  // of the names of files

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "mpiio_random_progress: rank %d: %s\n", rank, what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void must(int error, const char* call) {
  if (error == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(error, text, &length);
  give_up(std::string(call) + ": " + text);
}

void require(bool good, const char* what) {
  if (!good) give_up(what);
}

// A file that all processes of a communicator write by turns. A word is its number in the file, from 1 on.
class File {
 public:
  File(std::string path, MPI_Comm comm, std::vector<int> members, bool splits)
      : path_(std::move(path)), comm_(comm), members_(std::move(members)), splits_(splits) {
    begun_.assign(static_cast<size_t>(ranks), 0);
    waited_ = begun_;
    if (is_mine()) open();
  }

  bool is_mine() const { return std::find(members_.begin(), members_.end(), rank) != members_.end(); }
  const std::vector<int>& members() const { return members_; }
  MPI_Comm comm() const { return comm_; }

  // Return true if a process may do so next.
  bool may_begin(int by) const {
    const int begun = begun_[at(by)];
    return begun < kWrites && begun - waited_[at(by)] < (splits_ ? 1 : kAtOnce) && begun - least(begun_) < kAtOnce;
  }
  bool is_behind(int by) const { return begun_[at(by)] < most(begun_); }
  bool may_wait(int by) const { return waited_[at(by)] < std::min(begun_[at(by)], least(begun_)); }
  bool is_level() const { return least(begun_) == most(begun_); }
  bool is_idle() const { return is_level() && least(waited_) == most(begun_); }

  void begin(int by, int form) {
    ++begun_[at(by)];
    if (by != rank) return;
    std::vector<uint64_t>& words = filled();
    if (splits_) {
      must(MPI_File_write_all_begin(file_, words.data(), kWords, MPI_UINT64_T), "write_all_begin");
    } else if (form % 2 == 0) {
      must(MPI_File_iwrite_all(file_, words.data(), kWords, MPI_UINT64_T, &requests_.emplace_back()), "iwrite_all");
    } else {
      const MPI_Offset place = MPI_Offset{writes_ - 1} * kWords;
      must(MPI_File_seek(file_, kWords, MPI_SEEK_CUR), "seek");
      must(MPI_File_iwrite_at_all(file_, place, words.data(), kWords, MPI_UINT64_T, &requests_.emplace_back()),
           "iwrite_at_all");
    }
  }

  void wait(int by, int form) {
    ++waited_[at(by)];
    if (by != rank) return;
    if (splits_) {
      must(MPI_File_write_all_end(file_, memory_.front().data(), MPI_STATUS_IGNORE), "write_all_end");
    } else {
      wait_for(requests_.front(), form);
      requests_.pop_front();
    }
    memory_.pop_front();
  }

  // Calls of all its processes.
  void write_all() {
    std::vector<uint64_t> words = filled();
    memory_.pop_back();
    must(MPI_File_write_all(file_, words.data(), kWords, MPI_UINT64_T, MPI_STATUS_IGNORE), "write_all");
  }
  bool splits() const { return splits_; }
  void sync() { must(MPI_File_sync(file_), "sync"); }
  void reopen() {
    must(MPI_File_close(&file_), "close");
    open();
  }
  void set_view() {
    MPI_Datatype turn = MPI_DATATYPE_NULL;
    MPI_Datatype turns = MPI_DATATYPE_NULL;
    int mine = 0;
    int all = 1;
    MPI_Comm_rank(comm_, &mine);
    MPI_Comm_size(comm_, &all);
    MPI_Type_contiguous(kTurn * 8, MPI_BYTE, &turn);
    MPI_Type_create_resized(turn, 0, MPI_Aint{kTurn} * 8 * all, &turns);
    MPI_Type_commit(&turns);
    must(MPI_File_set_view(file_, MPI_Offset{mine} * kTurn * 8, MPI_UINT64_T, turns, "native", MPI_INFO_NULL),
         "set_view");
    MPI_Type_free(&turn);
    MPI_Type_free(&turns);
    must(MPI_File_seek(file_, MPI_Offset{writes_} * kWords, MPI_SEEK_SET), "seek");
  }
  void set_atomicity() {
    must(MPI_File_set_atomicity(file_, 1), "set_atomicity");
    must(MPI_File_set_atomicity(file_, 0), "set_atomicity");
  }
  void read_all() {
    std::vector<uint64_t> words(kWords);
    must(MPI_File_read_at_all(file_, 0, words.data(), kWords, MPI_UINT64_T, MPI_STATUS_IGNORE), "read_at_all");
    if (writes_ > 0) require(words == numbers(0), "a read has other words than the first write");
  }

  void close() {
    if (!is_mine()) return;
    must(MPI_File_close(&file_), "close");
    if (rank == members_[0]) check();
  }

 private:
  static size_t at(int by) { return static_cast<size_t>(by); }
  int least(const std::vector<int>& counts) const {
    int found = counts[at(members_[0])];
    for (const int by : members_) found = std::min(found, counts[at(by)]);
    return found;
  }
  int most(const std::vector<int>& counts) const {
    int found = 0;
    for (const int by : members_) found = std::max(found, counts[at(by)]);
    return found;
  }
  void open() {
    must(MPI_File_open(comm_, path_.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file_), "open");
    set_view();
  }
  std::vector<uint64_t> numbers(int write) const {
    int mine = 0;
    int all = 1;
    MPI_Comm_rank(comm_, &mine);
    MPI_Comm_size(comm_, &all);
    std::vector<uint64_t> words(kWords);
    for (int i = 0; i < kWords; ++i) {
      const int in_view = write * kWords + i;
      words[static_cast<size_t>(i)] =
          (static_cast<uint64_t>(in_view / kTurn) * static_cast<unsigned>(all) + static_cast<unsigned>(mine)) *
              kTurn +
          static_cast<unsigned>(in_view % kTurn) + 1;
    }
    return words;
  }
  std::vector<uint64_t>& filled() { return memory_.emplace_back(numbers(writes_++)); }

  static void wait_for(MPI_Request& request, int form) {
    MPI_Status status;
    int number = 0;
    int done = 0;
    switch (form % 6) {
      case 0: return must(MPI_Wait(&request, &status), "wait");
      case 1: return must(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE), "waitall");
      case 2: return must(MPI_Waitany(1, &request, &number, &status), "waitany");
      case 3: return must(MPI_Waitsome(1, &request, &number, &done, &status), "waitsome");
      case 4:
        while (done == 0) must(MPI_Test(&request, &done, &status), "test");
        return;
      default:
        while (done == 0) must(MPI_Request_get_status(request, &done, &status), "request_get_status");
        must(MPI_Wait(&request, &status), "wait");
    }
  }

  void check() const {
    std::FILE* const stream = std::fopen(path_.c_str(), "rb");
    require(stream != nullptr, "a file is not there");
    const auto total = static_cast<uint64_t>(writes_) * kWords * members_.size();
    uint64_t word = 0;
    for (uint64_t i = 1; i <= total; ++i) {
      require(std::fread(&word, 8, 1, stream) == 1 && word == i, "a file has a wrong word");
    }
    std::fclose(stream);
  }

  const std::string path_;
  const MPI_Comm comm_;
  const std::vector<int> members_;  // ranks in MPI_COMM_WORLD
  const bool splits_;               // writes with split calls
  std::vector<int> begun_;          // writes, by rank
  std::vector<int> waited_;         // those of them that have been waited for
  int writes_ = 0;                  // of this process
  MPI_File file_ = MPI_FILE_NULL;
  std::deque<std::vector<uint64_t>> memory_;  // of the writes that go on
  std::deque<MPI_Request> requests_;          // the same, unless they are split
};

// ---- calls of all processes of a communicator ------------------------------------------------------------------

struct Group {
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<int> members;  // ranks in MPI_COMM_WORLD
  int mine = 0;              // rank in the communicator
  int all = 1;
};

void reduce(const Group& group, int form) {
  std::vector<int> in(static_cast<size_t>(group.all), 1);
  std::vector<int> out(in.size(), 0);
  int one = 1;
  int sum = 0;
  switch (form % 6) {
    case 0: MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, group.comm); break;
    case 1: MPI_Reduce_scatter_block(in.data(), &sum, 1, MPI_INT, MPI_SUM, group.comm); break;
    case 2: MPI_Reduce_scatter(in.data(), &sum, in.data(), MPI_INT, MPI_SUM, group.comm); break;
    case 3:
      MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, group.comm);
      sum += group.all - 1 - group.mine;
      break;
    case 4:
      MPI_Exscan(&one, &sum, 1, MPI_INT, MPI_SUM, group.comm);
      sum = (group.mine == 0 ? 0 : sum) + group.all - group.mine;
      break;
    default: MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, group.comm); MPI_Bcast(&sum, 1, MPI_INT, 0, group.comm);
  }
  require(sum == group.all, "a reduction has another result");
}

void exchange(const Group& group, int form) {
  const auto all = static_cast<size_t>(group.all);
  std::vector<int> in(all, group.mine);
  std::vector<int> out(all, -1);
  std::vector<int> ones(all, 1);
  std::vector<int> places(all);
  std::iota(places.begin(), places.end(), 0);
  std::vector<int> bytes(all);
  for (size_t i = 0; i < all; ++i) bytes[i] = static_cast<int>(4 * i);
  const std::vector<MPI_Datatype> types(all, MPI_INT);
  switch (form % 7) {
    case 0: MPI_Alltoall(in.data(), 1, MPI_INT, out.data(), 1, MPI_INT, group.comm); break;
    case 1:
      MPI_Alltoallv(in.data(), ones.data(), places.data(), MPI_INT, out.data(), ones.data(), places.data(), MPI_INT,
                    group.comm);
      break;
    case 2:
      MPI_Alltoallw(in.data(), ones.data(), bytes.data(), types.data(), out.data(), ones.data(), bytes.data(),
                    types.data(), group.comm);
      break;
    case 3: MPI_Allgather(in.data(), 1, MPI_INT, out.data(), 1, MPI_INT, group.comm); break;
    case 4: MPI_Allgatherv(in.data(), 1, MPI_INT, out.data(), ones.data(), places.data(), MPI_INT, group.comm); break;
    case 5:
      MPI_Gather(in.data(), 1, MPI_INT, out.data(), 1, MPI_INT, 0, group.comm);
      MPI_Bcast(out.data(), group.all, MPI_INT, 0, group.comm);
      break;
    default:
      MPI_Gatherv(in.data(), 1, MPI_INT, out.data(), ones.data(), places.data(), MPI_INT, 0, group.comm);
      MPI_Bcast(out.data(), group.all, MPI_INT, 0, group.comm);
  }
  require(out == places, "an exchange has other values");
  int scattered = -1;
  MPI_Scatter(out.data(), 1, MPI_INT, &scattered, 1, MPI_INT, 0, group.comm);
  require(scattered == group.mine, "a scatter has another value");
}

void free_made(MPI_Comm& made) {
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
}

// MPICH 4.0 dies if the group of MPI_Comm_create_group is that of another communicator.
void create_group(const Group& group, int tag, MPI_Comm& made) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group processes = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, group.all, group.members.data(), &processes);
  MPI_Comm_create_group(MPI_COMM_WORLD, processes, tag, &made);
  MPI_Group_free(&processes);
  MPI_Group_free(&all);
}

void make_communicator(const Group& group, int form) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Group processes = MPI_GROUP_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_group(group.comm, &processes);
  switch (form % 8) {
    case 0: MPI_Comm_dup(group.comm, &made); break;
    case 1: MPI_Comm_split(group.comm, group.mine % 2, 0, &made); break;
    case 2: MPI_Comm_create(group.comm, processes, &made); break;
    case 3: create_group(group, form, made); break;
    case 4: MPI_Comm_split_type(group.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made); break;
    case 5: MPI_Comm_dup_with_info(group.comm, MPI_INFO_NULL, &made); break;
    case 6:
      MPI_Comm_idup(group.comm, &made, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    default: MPI_Comm_dup(group.comm, &made); MPI_Comm_disconnect(&made);
  }
  free_made(made);
  MPI_Group_free(&processes);
}

// A ring: each process has the one before it and the one behind it as neighbours.
MPI_Comm make_ring(const Group& group, int form) {
  MPI_Comm made = MPI_COMM_NULL;
  const int around[1] = {1};
  const int size[1] = {group.all};
  int from[2] = {(group.mine + group.all - 1) % group.all, (group.mine + 1) % group.all};
  std::vector<int> ends;
  std::vector<int> edges;
  switch (form % 4) {
    case 0: MPI_Cart_create(group.comm, 1, size, around, 0, &made); break;
    case 1:
      MPI_Dist_graph_create_adjacent(group.comm, 2, from, MPI_UNWEIGHTED, 2, from, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                     &made);
      break;
    case 2: {
      const int degree = 2;
      MPI_Dist_graph_create(group.comm, 1, &group.mine, &degree, from, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
      break;
    }
    default:
      for (int i = 0; i < group.all; ++i) {
        ends.push_back(2 * i + 2);
        edges.insert(edges.end(), {(i + group.all - 1) % group.all, (i + 1) % group.all});
      }
      MPI_Graph_create(group.comm, group.all, ends.data(), edges.data(), 0, &made);
  }
  return made;
}

void talk_to_neighbours(const Group& group, int form) {
  MPI_Comm ring = make_ring(group, form);
  int out[2] = {5, 5};
  int in[2] = {-1, -1};
  const int ones[2] = {1, 1};
  const int places[2] = {0, 1};
  const MPI_Aint bytes[2] = {0, 4};
  const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  switch (form / 4 % 5) {
    case 0: MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, ring); break;
    case 1: MPI_Neighbor_allgatherv(out, 1, MPI_INT, in, ones, places, MPI_INT, ring); break;
    case 2: MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring); break;
    case 3: MPI_Neighbor_alltoallv(out, ones, places, MPI_INT, in, ones, places, MPI_INT, ring); break;
    default: MPI_Neighbor_alltoallw(out, ones, bytes, types, in, ones, bytes, types, ring);
  }
  require(in[0] == 5 && in[1] == 5, "neighbours have sent other values");
  MPI_Comm_free(&ring);
}

// (Open MPI 4.1 makes no window of one process; MPICH 4.0 puts what a window of a few bytes gets elsewhere.)
void use_window(const Group& group, int form) {
  if (group.all == 1) return;
  constexpr int kBytes = 4096;
  MPI_Win window = MPI_WIN_NULL;
  int* memory = nullptr;
  std::vector<int> own(kBytes / 4);
  if (form % 2 == 0) {
    MPI_Win_allocate(kBytes, 4, MPI_INFO_NULL, group.comm, static_cast<void*>(&memory), &window);
  } else {
    memory = own.data();
    MPI_Win_create(memory, kBytes, 4, MPI_INFO_NULL, group.comm, &window);
  }
  *memory = -1;
  const int next = (group.mine + 1) % group.all;
  const int before = (group.mine + group.all - 1) % group.all;
  if (form / 2 % 2 == 0) {
    MPI_Win_fence(0, window);
    MPI_Put(&group.mine, 1, MPI_INT, next, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
  } else {
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group to = MPI_GROUP_NULL;
    MPI_Group from = MPI_GROUP_NULL;
    MPI_Comm_group(group.comm, &all);
    MPI_Group_incl(all, 1, &before, &from);
    MPI_Group_incl(all, 1, &next, &to);
    MPI_Win_post(from, 0, window);
    MPI_Win_start(to, 0, window);
    MPI_Put(&group.mine, 1, MPI_INT, next, 0, 1, MPI_INT, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    for (MPI_Group* each : {&all, &to, &from}) MPI_Group_free(each);
  }
  require(*memory == before, "a window has another value");
  MPI_Win_free(&window);
}

void use_another_file(const Group& group, const std::string& name) {
  MPI_File file = MPI_FILE_NULL;
  int value = group.mine;
  must(MPI_File_open(group.comm, (base + name).c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
       "open");
  must(MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE), "write_ordered");
  must(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), "seek_shared");
  must(MPI_File_write_at_all(file, MPI_Offset{4} * group.mine, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
       "write_at_all");
  must(MPI_File_set_size(file, MPI_Offset{4} * group.all), "set_size");
  must(MPI_File_read_at_all(file, MPI_Offset{4} * group.mine, &value, 1, MPI_INT, MPI_STATUS_IGNORE), "read_at_all");
  require(value == group.mine, "another file has another value");
  must(MPI_File_close(&file), "close");
}

#if MPI_VERSION >= 4
void use_persistent(const Group& group) {
  int one = 1;
  int sum = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  must(MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, group.comm, MPI_INFO_NULL, &request), "allreduce_init");
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  require(sum == group.all, "a persistent reduction has another result");
  MPI_Request_free(&request);
}
#else
void use_persistent(const Group& group) { MPI_Barrier(group.comm); }
#endif

// ---- calls of two processes ------------------------------------------------------------------------------------

void send(const std::vector<int>& message, int to, int form) {
  const int count = static_cast<int>(message.size());
  MPI_Request request = MPI_REQUEST_NULL;
  switch (form % 5) {
    case 0: must(MPI_Send(message.data(), count, MPI_INT, to, 7, MPI_COMM_WORLD), "send"); break;
    case 1: must(MPI_Ssend(message.data(), count, MPI_INT, to, 7, MPI_COMM_WORLD), "ssend"); break;
    case 2: {
      std::vector<char> room(message.size() * 4 + MPI_BSEND_OVERHEAD);
      void* given = nullptr;
      int size = 0;
      MPI_Buffer_attach(room.data(), static_cast<int>(room.size()));
      must(MPI_Bsend(message.data(), count, MPI_INT, to, 7, MPI_COMM_WORLD), "bsend");
      must(MPI_Buffer_detach(static_cast<void*>(&given), &size), "buffer_detach");
      break;
    }
    case 3:
      MPI_Send_init(message.data(), count, MPI_INT, to, 7, MPI_COMM_WORLD, &request);
      MPI_Start(&request);
      must(MPI_Wait(&request, MPI_STATUS_IGNORE), "wait");
      MPI_Request_free(&request);
      break;
    default:
      MPI_Isend(message.data(), count, MPI_INT, to, 7, MPI_COMM_WORLD, &request);
      must(MPI_Wait(&request, MPI_STATUS_IGNORE), "wait");
  }
}

void receive(std::vector<int>& message, int from, int form) {
  const int count = static_cast<int>(message.size());
  MPI_Message found = MPI_MESSAGE_NULL;
  MPI_Status status;
  int is_here = 0;
  switch (form % 5) {
    case 0: must(MPI_Recv(message.data(), count, MPI_INT, from, 7, MPI_COMM_WORLD, &status), "recv"); break;
    case 1:
      must(MPI_Probe(from, 7, MPI_COMM_WORLD, &status), "probe");
      must(MPI_Recv(message.data(), count, MPI_INT, from, 7, MPI_COMM_WORLD, &status), "recv");
      break;
    case 2:
      must(MPI_Mprobe(from, 7, MPI_COMM_WORLD, &found, &status), "mprobe");
      must(MPI_Mrecv(message.data(), count, MPI_INT, &found, &status), "mrecv");
      break;
    case 3:
      while (is_here == 0) MPI_Improbe(from, 7, MPI_COMM_WORLD, &is_here, &found, &status);
      must(MPI_Mrecv(message.data(), count, MPI_INT, &found, &status), "mrecv");
      break;
    default:
      while (is_here == 0) MPI_Iprobe(from, 7, MPI_COMM_WORLD, &is_here, &status);
      must(MPI_Recv(message.data(), count, MPI_INT, from, 7, MPI_COMM_WORLD, &status), "recv");
  }
  MPI_Get_count(&status, MPI_INT, &is_here);
  require(is_here == count && message == std::vector<int>(message.size(), from), "a message has other values");
}

void swap_with(int other, size_t words, int form) {
  std::vector<int> mine(words, rank);
  const int count = static_cast<int>(words);
  if (form % 2 == 0) {
    must(MPI_Sendrecv_replace(mine.data(), count, MPI_INT, other, 8, other, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
         "sendrecv_replace");
  } else {
    const std::vector<int> out = mine;
    must(MPI_Sendrecv(out.data(), count, MPI_INT, other, 8, mine.data(), count, MPI_INT, other, 8, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE),
         "sendrecv");
  }
  require(mine == std::vector<int>(words, other), "a swap has other values");
}

// ---- the program -----------------------------------------------------------------------------------------------

class Program {
 public:
  Program(unsigned seed, bool traces) : dice_(seed), traces_(traces) {
    world_.comm = MPI_COMM_WORLD;
    for (int i = 0; i < ranks; ++i) {
      world_.members.push_back(i);
      halves_[i % 2].members.push_back(i);
    }
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &halves_[rank % 2].comm);
    self_.comm = MPI_COMM_SELF;
    self_.members = {rank};
    for (Group* group : {&world_, &halves_[rank % 2], &self_}) {
      MPI_Comm_rank(group->comm, &group->mine);
      MPI_Comm_size(group->comm, &group->all);
    }
    files_.emplace_back(base + ".all", MPI_COMM_WORLD, world_.members, false);
    files_.emplace_back(base + ".split", MPI_COMM_WORLD, world_.members, true);
    files_.emplace_back(base + ".even", halves_[0].comm, halves_[0].members, false);
    if (ranks > 1) files_.emplace_back(base + ".odd", halves_[1].comm, halves_[1].members, false);
  }

  void run() {
    for (int event = 0; event < 60; ++event) {
      const int kind = below(10);
      if (kind < 4) {
        begin_or_wait(file());
      } else if (kind < 6 && ranks > 1) {
        call_in_pair();
      } else if (kind < 7) {
        call_of_file(file());
      } else {
        call_in_group();
      }
    }
    for (File& each : files_) settle(each, true);
    for (File& each : files_) each.close();
    MPI_Comm_free(&halves_[rank % 2].comm);
  }

 private:
  int below(int limit) { return static_cast<int>(dice_() % static_cast<unsigned>(limit)); }
  File& file() { return files_[static_cast<size_t>(below(static_cast<int>(files_.size())))]; }
  void say(const char* what, int number) {
    if (traces_) std::fprintf(stderr, "rank %d: %s %d\n", rank, what, number);
  }

  void begin_or_wait(File& file) {
    const auto count = static_cast<int>(file.members().size());
    const int by = file.members()[static_cast<size_t>(below(count))];
    const int form = below(1000);
    if (file.splits()) return begin_or_wait_together(file);
    if (below(2) == 0 && file.may_wait(by)) {
      if (by == rank) say("wait", form % 6);
      file.wait(by, form);
    } else if (file.may_begin(by)) {
      if (by == rank) say("begin", form % 2);
      file.begin(by, form);
    }
  }

  // An MPI may make the whole write in the begin of a split one, or in its end.
  void begin_or_wait_together(File& file) {
    const bool waits = !file.is_idle();
    if (!waits && !file.may_begin(file.members()[0])) return;
    if (file.is_mine()) say(waits ? "end" : "begin of a split write", 0);
    for (const int by : file.members()) {
      if (waits) {
        file.wait(by, 0);
      } else {
        file.begin(by, 0);
      }
    }
  }

  // In a random order, each process begins what others have begun, and perhaps waits for all.
  void settle(File& file, bool waits) {
    while (waits ? !file.is_idle() : !file.is_level()) {
      const auto count = static_cast<int>(file.members().size());
      const int by = file.members()[static_cast<size_t>(below(count))];
      const int form = below(1000);
      if (file.is_behind(by) && file.may_begin(by)) {
        file.begin(by, form);
      } else if (!file.splits() && file.may_wait(by)) {
        file.wait(by, form);
      } else if (file.splits()) {
        begin_or_wait_together(file);
      }
    }
  }

  // All processes make the calls of a file in one order.
  void call_of_file(File& file) {
    const int form = below(6);
    settle(file, form > 0 || file.splits());
    if (!file.is_mine()) return;
    say("call of file", form);
    switch (form) {
      case 0: return file.write_all();
      case 1: return file.sync();
      case 2: return file.set_view();
      case 3: return file.reopen();
      case 4: return file.set_atomicity();
      default: file.sync(); return file.read_all();
    }
  }

  void call_in_pair() {
    const int from = below(ranks);
    const int to = (from + 1 + below(ranks - 1)) % ranks;
    const size_t words = below(2) == 0 ? 1 : 200'000;
    const int form = below(1000);
    if (rank != from && rank != to) return;
    say("pair", form);
    if (form % 3 == 0) {
      swap_with(rank == from ? to : from, words, form / 3);
    } else if (rank == from) {
      send(std::vector<int>(words, rank), to, form / 3);
    } else {
      std::vector<int> message(words, -1);
      receive(message, from, form / 15);
    }
  }

  void call_in_group() {
    const int which = below(4);  // all, one half, or each by itself
    const int kind = below(9);
    const int form = below(1000);
    const Group& group = which == 0 ? world_ : which == 3 ? self_ : halves_[which - 1];
    if (which == 1 || which == 2) {
      if (which - 1 != rank % 2) return;
    }
    say("group", 10'000 * which + 1000 * kind + form);
    switch (kind) {
      case 0: must(MPI_Barrier(group.comm), "barrier"); return;
      case 1: return reduce(group, form);
      case 2: return exchange(group, form);
      case 3: return make_communicator(group, form);
      case 4: return talk_to_neighbours(group, form);
      case 5: return use_window(group, form);
      case 6: return use_another_file(group, ".other" + std::to_string(which == 3 ? 10 + rank : which));
      case 7: return use_persistent(group);
      default:
        if (which == 0 && ranks > 1) join_halves();
    }
  }

  void join_halves() {
    MPI_Comm both = MPI_COMM_NULL;
    MPI_Comm merged = MPI_COMM_NULL;
    MPI_Intercomm_create(halves_[rank % 2].comm, 0, MPI_COMM_WORLD, 1 - rank % 2, 9, &both);
    MPI_Intercomm_merge(both, rank % 2, &merged);
    MPI_Barrier(both);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&both);
  }

  std::mt19937 dice_;
  const bool traces_;
  Group world_;
  Group halves_[2];  // the even ranks and the odd ones
  Group self_;
  std::deque<File> files_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  require(argc >= 3, "usage: mpiio_random_progress FILE SEED [trace]");
  base = argv[1];
  Program(static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)), argc > 3).run();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::puts("ended");
  MPI_Finalize();
  return 0;
}
