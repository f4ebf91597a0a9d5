#include "publish/publication.hpp"

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

// After all that was written into the file before.
Request write_of(FileId file, PublicationStep& step) {
  Request request;
  request.operation = Operation::write;
  request.file = file;
  request.fence = step.after_others;
  for (MetadataPiece& piece : step.pieces) {
    request.pieces.push_back({{piece.offset, piece.bytes.size()}, piece.bytes.data()});
  }
  return request;
}

Request of_operation(FileId file, Operation operation) {
  Request request;
  request.operation = operation;
  request.file = file;
  return request;
}

}  // namespace

// A write may need a sync, too.
size_t length_of_run(std::span<const PublicationStep> steps) {
  size_t length = 0;
  uint32_t requests = 0;
  for (; length < steps.size() && steps[length].file == steps[0].file; ++length) {
    requests += steps[length].kind == PublicationStep::Kind::write ? 2 : 1;
    if (requests > kRequestsOfRun) break;
  }
  return length;
}

std::vector<Request> requests_of(std::span<PublicationStep> run, FileId file, Durability durability, FileEnd end) {
  std::vector<Request> requests;
  for (PublicationStep& step : run) {
    if (step.kind == PublicationStep::Kind::publish) {
      requests.push_back(of_operation(file, end == FileEnd::kept ? Operation::close : Operation::publish));
      continue;
    }
    if (!step.pieces.empty()) requests.push_back(write_of(file, step));
    if (durability == Durability::durable) requests.push_back(of_operation(file, Operation::sync));
  }
  TAILRACE_ASSERT(requests.size() <= kRequestsOfRun);
  return requests;
}

}  // namespace tailrace::impl
