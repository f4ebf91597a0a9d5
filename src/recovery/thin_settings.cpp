#include "recovery/thin_settings.hpp"

#include <map>

namespace tailrace::impl {
namespace {

// Settings of a client that no block, read or attribute has used yet.
struct Unseen {
  std::map<uint32_t, LedgerRecord> latest;  // by parameter
  std::vector<LedgerRecord> unfinished;     // settings whose last one has not come
};

void add(Unseen& unseen, const LedgerRecord& record) {
  const Descriptor::Setting& setting = record.descriptor.setting;
  if (setting.index == 0) unseen.unfinished.clear();  // left from a call that was given up
  unseen.unfinished.push_back(record);
  if (unseen.unfinished.size() < setting.count) return;
  for (const LedgerRecord& of : unseen.unfinished) unseen.latest[of.descriptor.variable] = of;
  unseen.unfinished.clear();
}

void put_latest(Unseen& unseen, std::vector<LedgerRecord>& to) {
  uint32_t index = 0;
  const auto count = static_cast<uint32_t>(unseen.latest.size());
  for (auto& [parameter, record] : unseen.latest) {
    record.descriptor.setting.index = index++;
    record.descriptor.setting.count = count;
    to.push_back(record);
  }
  unseen.latest.clear();
}

}  // namespace

bool is_setting(const LedgerRecord& record) {
  return record.kind == LedgerRecord::Kind::accepted && record.descriptor.verb == Verb::parameter;
}

std::vector<LedgerRecord> thin_settings(const std::vector<LedgerRecord>& records) {
  std::vector<LedgerRecord> kept;
  std::map<int32_t, Unseen> clients;
  for (const LedgerRecord& record : records) {
    if (is_setting(record)) {
      add(clients[record.client], record);
      continue;
    }
    const Verb verb = record.descriptor.verb;
    const bool accepted = record.kind == LedgerRecord::Kind::accepted;
    const bool sees = accepted && (verb == Verb::write || verb == Verb::read || verb == Verb::attribute);
    if (sees) put_latest(clients[record.client], kept);
    kept.push_back(record);
  }
  for (auto& [client, unseen] : clients) {
    put_latest(unseen, kept);
    kept.insert(kept.end(), unseen.unfinished.begin(), unseen.unfinished.end());
  }
  return kept;
}

}  // namespace tailrace::impl
