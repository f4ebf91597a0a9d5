#include "mpiio/calls/own_calls.hpp"

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>

namespace tailrace::mpiio {
namespace {

// A message whose bytes do not change.
struct Packed {
  std::unique_ptr<std::byte[]> bytes;
  int size = 0;
  MPI_Request request = MPI_REQUEST_NULL;
};

int pack(const void* from, int count, MPI_Datatype type, MPI_Comm comm, Packed& packed) {
  int room = 0;
  const int error = TAILRACE_REAL(MPI_Pack_size)(count, type, comm, &room);
  if (error != MPI_SUCCESS) return error;
  packed.bytes.reset(new std::byte[static_cast<size_t>(room)]);
  return TAILRACE_REAL(MPI_Pack)(from, count, type, packed.bytes.get(), room, &packed.size, comm);
}

int send(Packed& packed, int to, int tag, MPI_Comm comm) {
  return TAILRACE_REAL(MPI_Isend)(packed.bytes.get(), packed.size, MPI_PACKED, to, tag, comm, &packed.request);
}

// The messages of MPI_Bsend that are on their way. Never destroyed: MPI ends very late.
struct Buffer {
  std::mutex mutex;
  std::list<Packed> messages;  // guarded by mutex

  void forget_sent() {
    messages.remove_if([](Packed& packed) {
      int sent = 0;
      TAILRACE_REAL(MPI_Test)(&packed.request, &sent, MPI_STATUS_IGNORE);
      return sent != 0;
    });
  }
};

Buffer& buffer() {
  static Buffer* const only = new Buffer;
  return *only;
}

}  // namespace

int send_and_receive(const void* a, int n, MPI_Datatype t, int to, int tag, void* b, int m, MPI_Datatype u, int from,
                     int from_tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Request receive = MPI_REQUEST_NULL;
  MPI_Request sending = MPI_REQUEST_NULL;
  int error = TAILRACE_REAL(MPI_Irecv)(b, m, u, from, from_tag, comm, &receive);
  if (error == MPI_SUCCESS) error = TAILRACE_REAL(MPI_Isend)(a, n, t, to, tag, comm, &sending);
  if (error == MPI_SUCCESS) error = wait(&sending, MPI_STATUS_IGNORE);
  return error != MPI_SUCCESS ? error : wait(&receive, status);
}

int send_and_replace(void* a, int n, MPI_Datatype t, int to, int tag, int from, int from_tag, MPI_Comm comm,
                     MPI_Status* status) {
  Packed packed;
  const int error = pack(a, n, t, comm, packed);
  if (error != MPI_SUCCESS) return error;
  return send_and_receive(packed.bytes.get(), packed.size, MPI_PACKED, to, tag, a, n, t, from, from_tag, comm,
                          status);
}

int send_buffered(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  Packed packed;
  const int error = pack(from, count, type, comm, packed);
  if (error != MPI_SUCCESS) return error;
  const std::lock_guard lock(buffer().mutex);
  buffer().forget_sent();
  buffer().messages.push_back(std::move(packed));
  return send(buffer().messages.back(), to, tag, comm);
}

void wait_for_buffered() {
  until([](int& done) {
    const std::lock_guard lock(buffer().mutex);
    buffer().forget_sent();
    done = buffer().messages.empty() ? 1 : 0;
    return MPI_SUCCESS;
  });
}

void meet_beyond(MPI_Comm local, int leader, MPI_Comm peers, int other_leader, int tag) {
  if (!exchanges_in_background() || local == MPI_COMM_NULL) return;
  int rank = 0;
  TAILRACE_REAL(MPI_Comm_rank)(local, &rank);
  meet(local);
  if (rank == leader) {
    send_and_receive(nullptr, 0, MPI_BYTE, other_leader, tag, nullptr, 0, MPI_BYTE, other_leader, tag, peers,
                     MPI_STATUS_IGNORE);
  }
  meet(local);
}

unsigned tag_of(const char* text) {
  unsigned tag = 0;
  for (const char letter : std::string_view(text)) tag = tag * 31 + static_cast<unsigned char>(letter);
  return tag;
}

void meet_groups(MPI_Group one, MPI_Group other, unsigned tag) {
  MPI_Group both = MPI_GROUP_NULL;
  TAILRACE_REAL(MPI_Group_union)(one, other, &both);
  meet_group(both, tag);
  TAILRACE_REAL(MPI_Group_free)(&both);
}

}  // namespace tailrace::mpiio
