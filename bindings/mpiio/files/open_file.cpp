#include "mpiio/files/open_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "mpiio/mpi/read_type.hpp"
#include "mpiio/mpi/real_mpi.hpp"

namespace tailrace::mpiio {
namespace {

std::shared_ptr<const FlatType> flatten(MPI_Datatype type) {
  const TypePointer tree = read_type(type);
  return tree != nullptr ? std::make_shared<const FlatType>(*tree) : nullptr;
}

}  // namespace

OpenFile::~OpenFile() {
  if (open_) carrier().close(raw_);
  TAILRACE_REAL(MPI_Comm_free)(&comm_);
}

bool OpenFile::open() {
  open_ = !path_.empty() && carries_anything() && carrier().open(path_, &raw_);
  return agree(open_);
}

// Returns true if all processes say yes.
bool OpenFile::agree(bool mine) const {
  int yes = mine ? 1 : 0;
  int all = 0;
  return TAILRACE_REAL(MPI_Allreduce)(&yes, &all, 1, MPI_INT, MPI_MIN, comm_) == MPI_SUCCESS && all == 1;
}

void OpenFile::set_view(uint64_t displacement, MPI_Datatype etype, MPI_Datatype filetype,
                        const char* representation) {
  const std::shared_ptr<const FlatType> element = flatten(etype);
  const std::shared_ptr<const FlatType> pattern = flatten(filetype);
  const bool known = std::strcmp(representation, "native") == 0 && element != nullptr && pattern != nullptr &&
                     element->size() > 0 && pattern->size() > 0 && pattern->ascends() &&
                     pattern->runs()[0].offset >= 0;
  known_view_ = agree(known);
  if (known_view_) view_ = View(displacement, element->size(), pattern->is_contiguous() ? nullptr : pattern);
}

Outcome OpenFile::write(uint64_t begin, const void* memory, int64_t count, MPI_Datatype type) {
  const auto locked = lock();
  const auto* const from = static_cast<const std::byte*>(memory);
  const auto copies = static_cast<uint64_t>(count);
  if (uint64_t size = 0; is_predefined(type, size) && size > 0) return write_run(begin, {from, size * copies});
  const std::shared_ptr<const FlatType> flat = flatten(type);
  if (flat == nullptr) return {MPI_ERR_TYPE, 0};
  if (flat->size() == 0) return {failure(), 0};
  const uint64_t bytes = flat->size() * copies;
  if (flat->is_contiguous()) return write_run(begin, {from + flat->runs()[0].offset, bytes});
  return write_pieces(begin, from, bytes, *flat);
}

// Cuts what has many places in the file: a list of all of them might need more memory than the bytes.
Outcome OpenFile::write_run(uint64_t begin, std::span<const std::byte> data) {
  if (data.size() % view_.etype() != 0) return {MPI_ERR_ARG, 0};
  const uint64_t most = view_.is_contiguous() ? data.size() : kAtOnce;
  for (uint64_t done = 0; done < data.size(); done += most) {
    const int error = hand_over(begin + done, data.subspan(done, std::min(most, data.size() - done)));
    if (error != MPI_SUCCESS) return {error, done};
  }
  return {failure(), data.size()};
}

Outcome OpenFile::write_pieces(uint64_t begin, const std::byte* memory, uint64_t bytes, const FlatType& type) {
  if (bytes % view_.etype() != 0) return {MPI_ERR_ARG, 0};
  packed_.resize(std::min(bytes, kAtOnce));
  for (uint64_t done = 0; done < bytes; done += kAtOnce) {
    const uint64_t part = std::min(kAtOnce, bytes - done);
    type.gather(memory, done, part, packed_.data());
    const int error = hand_over(begin + done, {packed_.data(), part});
    if (error != MPI_SUCCESS) return {error, done};
  }
  return {failure(), bytes};
}

int OpenFile::hand_over(uint64_t begin, std::span<const std::byte> data) {
  pending_ = true;
  const Refusal refused = carrier().write(raw_, view_.find(begin, data.size()), data.data());
  return refused.status == TAILRACE_OK ? MPI_SUCCESS : report(refused.message, refused.system_errno);
}

// MPI returns a class of errors, so the message goes to standard error.
int OpenFile::report(const std::string& message, int system_errno) {
  std::fprintf(stderr, "tailrace: %s\n", message.c_str());
  if (system_errno == ENOSPC) return MPI_ERR_NO_SPACE;
  if (system_errno == EDQUOT) return MPI_ERR_QUOTA;
  return system_errno == EROFS ? MPI_ERR_READ_ONLY : MPI_ERR_IO;
}

// Returns the error of earlier writes, once.
int OpenFile::failure() {
  int error = MPI_SUCCESS;
  for (const auto& failure : carrier().take_failures(path_)) error = report(failure.message, failure.system_errno);
  return error;
}

int OpenFile::drain() {
  const auto locked = lock();
  if (!std::exchange(pending_, false)) return failure();
  const Refusal refused = carrier().flush();
  const int error = failure();
  if (refused.status == TAILRACE_OK || error != MPI_SUCCESS) return error;
  return report(refused.message, refused.system_errno);
}

void OpenFile::meet() const { TAILRACE_REAL(MPI_Barrier)(comm_); }

}  // namespace tailrace::mpiio
