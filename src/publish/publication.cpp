#include "publish/publication.hpp"

namespace tailrace::impl {
namespace {

Request of_pieces(FileId file, std::vector<MetadataPiece*> metadata, bool fence) {
  Request request;
  request.operation = Operation::write;
  request.file = file;
  request.fence = fence;
  for (MetadataPiece* piece : metadata) {
    request.pieces.push_back({{piece->offset, piece->bytes.size()}, piece->bytes.data()});
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

std::vector<Request> publication(FileId file, FileEnding& ending, Durability durability, FileEnd end) {
  std::vector<Request> requests;
  std::vector<MetadataPiece*> body;
  for (MetadataPiece& piece : ending.body) body.push_back(&piece);
  if (!body.empty()) requests.push_back(of_pieces(file, std::move(body), false));
  if (durability == Durability::durable) requests.push_back(of_operation(file, Operation::sync));
  requests.push_back(of_pieces(file, {&ending.head}, true));
  if (durability == Durability::durable) requests.push_back(of_operation(file, Operation::sync));
  requests.push_back(of_operation(file, end == FileEnd::kept ? Operation::close : Operation::publish));
  TAILRACE_ASSERT(requests.size() <= kMaxPublicationRequests);
  return requests;
}

}  // namespace tailrace::impl
