#include "publish/group_clients.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

const char* clients(size_t count) { return count == 1 ? "client" : "clients"; }

}  // namespace

void GroupClients::join(GroupMember& member) {
  here_.insert(&member);
  gone_.erase(member.client());
}

void GroupClients::leave(GroupMember& member) {
  TAILRACE_REQUIRE(here_.erase(&member) == 1);
  note_gone(member.client());
}

uint32_t GroupClients::yet_to_come() const {
  const size_t here_or_not_awaited = here_.size() + gone_.size() + absent_;
  return expected_ > here_or_not_awaited ? expected_ - static_cast<uint32_t>(here_or_not_awaited) : 0;
}

void GroupClients::give_up_absent(std::vector<int> numbers) {
  absent_ += yet_to_come();
  absent_numbers_ = std::move(numbers);
}

bool GroupClients::complete(const Enders& enders) const {
  return enders.any() && enders.here.size() + gone_.size() + absent_ >= expected_;
}

std::vector<int> GroupClients::missing(const Enders& enders) const {
  std::vector<int> missing;
  for (const int client : gone_) {
    if (!enders.gone.contains(client)) missing.push_back(client);
  }
  missing.insert(missing.end(), absent_numbers_.begin(), absent_numbers_.end());
  std::sort(missing.begin(), missing.end());
  return missing;
}

std::string GroupClients::describe(const Enders& enders) const {
  std::set<int> by = enders.gone;
  for (const GroupMember* const member : enders.here) by.insert(member->client());
  std::string who = by.empty() ? "by no client" : fmt::format("by {} {}", clients(by.size()), fmt::join(by, ", "));
  if (const std::vector<int> without = missing(enders); !without.empty()) {
    who += fmt::format(", and without {} {}, gone before or never here", clients(without.size()),
                       fmt::join(without, ", "));
  }
  return who;
}

}  // namespace tailrace::impl
