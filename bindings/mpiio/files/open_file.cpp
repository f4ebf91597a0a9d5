#include "mpiio/files/open_file.hpp"

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

// The data as one run of memory, in the order of their type.
std::span<const std::byte> OpenFile::pack(const void* memory, uint64_t bytes, const FlatType& type) {
  const auto* const from = static_cast<const std::byte*>(memory);
  if (type.is_contiguous()) return {from + type.runs()[0].offset, bytes};
  packed_.resize(bytes);
  type.gather(from, bytes, packed_.data());
  return packed_;
}

Outcome OpenFile::write(uint64_t begin, const void* memory, int64_t count, MPI_Datatype type) {
  const auto locked = lock();
  std::span<const std::byte> data;
  if (uint64_t size = 0; is_predefined(type, size) && size > 0) {
    data = {static_cast<const std::byte*>(memory), size * static_cast<uint64_t>(count)};
  } else {
    const std::shared_ptr<const FlatType> flat = flatten(type);
    if (flat == nullptr) return {MPI_ERR_TYPE, 0};
    if (flat->size() > 0) data = pack(memory, flat->size() * static_cast<uint64_t>(count), *flat);
  }
  if (data.empty()) return {failure(), 0};
  const Refusal refused = carrier().write(raw_, view_.find(begin, data.size()), data.data());
  pending_ = true;
  if (refused.status != TAILRACE_OK) return {report(refused.message, refused.system_errno), 0};
  return {failure(), data.size()};
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
