#include "openfoam/handler/carried_store.hpp"

#include <utility>

namespace tailrace::openfoam {
namespace {

using Refusal = process::ProcessClient::Refusal;

Store::Reason reason(const Refusal& refused) { return refused.status == TAILRACE_OK ? "" : refused.message; }

}  // namespace

Store::Reason CarriedStore::open(const std::string& path, File& file) {
  Opened opened{{}, path};
  opened.carried = client_.open(path, &opened.file, TAILRACE_FILE_TRUNCATE | TAILRACE_FILE_PUBLISH);
  if (!opened.carried) {
    Reason why = direct_.open(path, opened.direct);
    if (!why.empty()) return why;
  }
  file = ++latest_file_;
  files_[file] = std::move(opened);
  return {};
}

Store::Reason CarriedStore::write(File file, uint64_t offset, const std::byte* data, size_t bytes, Ticket& ticket) {
  const Opened& opened = files_.at(file);
  if (!opened.carried) return direct_.write(opened.direct, offset, data, bytes, ticket);
  std::vector<tailrace_ticket> tickets;
  const Refusal refused = client_.lend(opened.file, {offset, bytes}, data, tickets);
  ticket = waiting_for(std::move(tickets), opened.path);
  return reason(refused);
}

Store::Reason CarriedStore::close(File file, Ticket& ticket) {
  const Opened opened = files_.at(file);
  files_.erase(file);
  if (!opened.carried) return direct_.close(opened.direct, ticket);
  tailrace_ticket end{};
  const Refusal refused = client_.iclose(opened.file, &end);
  ticket = waiting_for({end}, opened.path);
  return reason(refused);
}

void CarriedStore::give_up(File file) {
  const Opened& opened = files_.at(file);
  if (opened.carried) {
    client_.give_up(opened.file);
  } else {
    direct_.give_up(opened.direct);
  }
}

Store::Ticket CarriedStore::waiting_for(std::vector<tailrace_ticket> tickets, const std::string& path) {
  waiting_[++latest_ticket_] = {std::move(tickets), path};
  return latest_ticket_;
}

Store::Reason CarriedStore::wait(Ticket ticket) {
  const auto found = waiting_.find(ticket);
  if (found == waiting_.end()) return {};
  const Waiting waiting = std::move(found->second);
  waiting_.erase(found);
  Reason first;
  for (const tailrace_ticket& each : waiting.tickets) {
    Reason why = reason(client_.wait(each, -1, waiting.path));
    if (first.empty()) first = std::move(why);
  }
  if (!first.empty()) forget_failures(waiting.path);
  return first;
}

// The writer reports a file's first failure. The client would report the others when it ends.
void CarriedStore::forget_failures(const std::string& path) {
  client_.take_failures(path);
  client_.take_failures(path + ".partial");
}

}  // namespace tailrace::openfoam
