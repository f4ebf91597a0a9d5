#include "mpiio/collective/mpi_exchange.hpp"

#include "mpiio/mpi/real_mpi.hpp"

namespace tailrace::mpiio {

using collective::Contribution;
using collective::Kind;

namespace {

constexpr uint32_t kNumbers = 8192;  // that many writes at one time; every MPI has tags up to 32767
constexpr int kWords = sizeof(Contribution) / sizeof(uint64_t);
static_assert(sizeof(Contribution) == kWords * sizeof(uint64_t));

bool has_ended(MPI_Request& request) {
  if (request == MPI_REQUEST_NULL) return true;
  int ended = 0;
  TAILRACE_REAL(MPI_Test)(&request, &ended, MPI_STATUS_IGNORE);
  return ended != 0;
}

}  // namespace

MpiExchange::MpiExchange(MPI_Comm comm, uint32_t number) : comm_(comm), number_(number % kNumbers) {
  int rank = 0;
  int ranks = 0;
  TAILRACE_REAL(MPI_Comm_rank)(comm_, &rank);
  TAILRACE_REAL(MPI_Comm_size)(comm_, &ranks);
  rank_ = static_cast<uint32_t>(rank);
  all_.resize(static_cast<size_t>(ranks));
}

int MpiExchange::tag(Kind kind) const { return static_cast<int>(number_ * 2 + (kind == Kind::to_member ? 1 : 0)); }

void MpiExchange::gather(const Contribution& mine) {
  mine_ = mine;
  TAILRACE_REAL(MPI_Iallgather)(&mine_, kWords, MPI_UINT64_T, all_.data(), kWords, MPI_UINT64_T, comm_, &gather_);
}

const std::vector<Contribution>* MpiExchange::gathered() { return has_ended(gather_) ? &all_ : nullptr; }

void MpiExchange::send(Kind kind, uint32_t to, collective::Message message) {
  Sending& sending = sending_.emplace_back(Sending{kind, to, std::move(message)});
  TAILRACE_REAL(MPI_Isend)
  (sending.message.data(), static_cast<int>(sending.message.size()), MPI_BYTE, static_cast<int>(to), tag(kind), comm_,
   &sending.request);
}

void MpiExchange::look_after_sends() {
  sending_.remove_if([](Sending& sending) { return has_ended(sending.request); });
}

size_t MpiExchange::unsent(uint32_t to) {
  look_after_sends();
  size_t count = 0;
  for (const Sending& sending : sending_) count += sending.to == to && sending.kind == Kind::to_aggregator ? 1 : 0;
  return count;
}

bool MpiExchange::all_sent() {
  look_after_sends();
  return sending_.empty();
}

// A message that is here is not received at once: its bytes may need the sender's help.
std::optional<collective::Message> MpiExchange::receive(Kind kind, uint32_t from) {
  Receiving& receiving = receiving_[{kind, from}];
  if (receiving.request == MPI_REQUEST_NULL) {
    int is_here = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    TAILRACE_REAL(MPI_Improbe)(static_cast<int>(from), tag(kind), comm_, &is_here, &message, &status);
    if (is_here == 0) return std::nullopt;
    int bytes = 0;
    TAILRACE_REAL(MPI_Get_count)(&status, MPI_BYTE, &bytes);
    receiving.message = collective::Message(static_cast<size_t>(bytes));
    TAILRACE_REAL(MPI_Imrecv)(receiving.message.data(), bytes, MPI_BYTE, &message, &receiving.request);
  }
  if (!has_ended(receiving.request)) return std::nullopt;
  return std::move(receiving.message);
}

}  // namespace tailrace::mpiio
