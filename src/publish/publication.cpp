#include "publish/publication.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

// Returns a write that follows all earlier writes into the file.
Request write_of(FileId file, const PublicationStep& step) {
  Request request;
  request.operation = Operation::write;
  request.file = file;
  request.fence = step.after_others;
  request.pieces.reserve(step.pieces.size());
  for (const MetadataPiece& piece : step.pieces) {
    // The engine only reads the bytes of a write.
    request.pieces.push_back({{piece.offset, piece.bytes.size()}, const_cast<std::byte*>(piece.bytes.data())});
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

size_t length_of_run(std::span<const PublicationStep> steps) {
  constexpr size_t kWrites = kRequestsOfRun / 2;  // each may need a sync
  const auto is_alone = [](const PublicationStep& step) {
    return step.shows || step.kind != PublicationStep::Kind::write;
  };
  if (!steps.empty() && is_alone(steps[0])) return 1;
  size_t length = 0;
  for (; length < std::min(steps.size(), kWrites); ++length) {
    if (steps[length].file != steps[0].file || is_alone(steps[length])) break;
  }
  return length;
}

std::vector<Request> requests_of(std::span<const PublicationStep> run, FileId file, Durability durability,
                                 FileEnd end) {
  std::vector<Request> requests;
  for (const PublicationStep& step : run) {
    if (step.kind != PublicationStep::Kind::write) {
      const bool named = step.kind == PublicationStep::Kind::publish && end == FileEnd::published;
      requests.push_back(of_operation(file, named ? Operation::publish : Operation::close));
      continue;
    }
    if (!step.pieces.empty()) requests.push_back(write_of(file, step));
    if (durability == Durability::durable) requests.push_back(of_operation(file, Operation::sync));
  }
  TAILRACE_ASSERT(requests.size() <= kRequestsOfRun);
  return requests;
}

}  // namespace tailrace::impl
