#include "storage/remote/forwarders/answers.hpp"

#include <algorithm>
#include <utility>

namespace tailrace::impl {

Status status_of(const ForwardAnswer& answer, const std::string& operation, const std::string& file) {
  if (answer.record.code == TAILRACE_OK) return {};
  Fault fault;
  fault.code = static_cast<tailrace_status>(answer.record.code);
  fault.message = answer.text;
  fault.operation = operation;
  fault.file = file;
  fault.system_errno = answer.record.system_errno;
  return Status(std::move(fault));
}

StripeMap stripes_in(const ForwardAnswer& answer) {
  StripeMap stripes;
  stripes.unit = std::max<uint64_t>(answer.record.value, 1);
  if (!answer.servers.empty()) stripes.servers = answer.servers;
  return stripes;
}

NameFacts facts_in(const ForwardAnswer& answer) {
  const AnswerRecord& record = answer.record;
  NameFacts facts;
  facts.kind = record.kind == 0   ? NameFacts::Kind::file
               : record.kind == 1 ? NameFacts::Kind::directory
                                  : NameFacts::Kind::other;
  facts.size = record.value;
  facts.own = record.own != 0;
  facts.identity = {record.volume, record.number};
  return facts;
}

}  // namespace tailrace::impl
