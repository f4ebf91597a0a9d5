#include "collective/plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace tailrace::collective {
namespace {

bool before(const Contribution& one, const Contribution& other) {
  return one.begin != other.begin ? one.begin < other.begin : one.end < other.end;
}

// Returns the ranks that write something, in the order of their data.
std::vector<uint32_t> writers(std::span<const Contribution> all) {
  std::vector<uint32_t> ranks;
  for (uint32_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].bytes > 0) ranks.push_back(rank);
  }
  std::stable_sort(ranks.begin(), ranks.end(), [&](uint32_t a, uint32_t b) { return before(all[a], all[b]); });
  return ranks;
}

uint64_t bytes_of(std::span<const uint32_t> ranks, std::span<const Contribution> all) {
  return std::accumulate(ranks.begin(), ranks.end(), uint64_t{0},
                         [&](uint64_t sum, uint32_t rank) { return sum + all[rank].bytes; });
}

size_t number_of_nodes(std::span<const int> nodes) { return std::set<int>(nodes.begin(), nodes.end()).size(); }

// Divides the writers where the data of those before end before the data of those behind begin, so that a group's
// part of the file is its own. A group is closed when it has its share of the bytes.
std::vector<std::vector<uint32_t>> divide(const std::vector<uint32_t>& ranks, std::span<const Contribution> all,
                                          uint64_t most_groups) {
  const uint64_t share = bytes_of(ranks, all) / std::max<uint64_t>(most_groups, 1);
  std::vector<std::vector<uint32_t>> groups(1);
  uint64_t end = 0;
  uint64_t bytes = 0;
  for (const uint32_t rank : ranks) {
    if (!groups.back().empty() && end <= all[rank].begin && bytes >= share && groups.size() < most_groups) {
      groups.emplace_back();
      bytes = 0;
    }
    groups.back().push_back(rank);
    end = std::max(end, all[rank].end);
    bytes += all[rank].bytes;
  }
  return groups;
}

// Chooses aggregators of the members: one from each node, then a second one, and so on. They are in the order of the
// members, so that an aggregator's own data tend to be in its own file domain.
std::vector<uint32_t> choose_aggregators(const std::vector<uint32_t>& members, std::span<const int> nodes,
                                         size_t count) {
  struct Candidate {
    size_t nth = 0;  // of its node
    size_t at = 0;   // among the members
  };
  std::map<int, size_t> seen;
  std::vector<Candidate> candidates;
  for (size_t at = 0; at < members.size(); ++at) candidates.push_back({seen[nodes[members[at]]]++, at});
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.nth < b.nth; });
  candidates.resize(std::min(count, candidates.size()));
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) { return a.at < b.at; });
  std::vector<uint32_t> chosen;
  chosen.reserve(candidates.size());
  for (const Candidate& candidate : candidates) chosen.push_back(members[candidate.at]);
  return chosen;
}

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

// Divides the group's part of the file into domains of one size, which begin at multiples of `alignment`.
Group make_group(std::vector<uint32_t> members, std::span<const Contribution> all, std::span<const int> nodes,
                 size_t aggregators, uint64_t alignment) {
  uint64_t begin = UINT64_MAX;
  uint64_t end = 0;
  for (const uint32_t rank : members) {
    begin = std::min(begin, all[rank].begin);
    end = std::max(end, all[rank].end);
  }
  Group group;
  const std::vector<uint32_t> chosen = choose_aggregators(members, nodes, aggregators);
  group.members = std::move(members);
  const uint64_t size = (end - begin + chosen.size() - 1) / chosen.size();
  uint64_t at = begin;
  for (size_t i = 0; i < chosen.size() && at < end; ++i) {
    const bool last = i + 1 == chosen.size();
    const uint64_t limit = last ? end : std::min(end, round_up(at + size, std::max<uint64_t>(alignment, 1)));
    group.domains.push_back({chosen[i], at, limit});
    at = limit;
  }
  return group;
}

}  // namespace

Algorithm choose(std::span<const Contribution> all, uint64_t large_piece) {
  const std::vector<uint32_t> ranks = writers(all);
  if (ranks.size() < 2) return Algorithm::individual;
  uint64_t pieces = 0;
  uint64_t end = 0;
  bool interleaved = false;
  for (const uint32_t rank : ranks) {
    interleaved = interleaved || all[rank].begin < end;
    end = std::max(end, all[rank].end);
    pieces += all[rank].pieces;
  }
  const uint64_t bytes = bytes_of(ranks, all);
  const uint64_t range = end - all[ranks[0]].begin;
  // With large gaps between them, pieces of several processes do not become large ones.
  const bool dense = bytes >= range / 2;
  return interleaved && dense && bytes / std::max<uint64_t>(pieces, 1) < large_piece ? Algorithm::dynamic
                                                                                     : Algorithm::individual;
}

Plan::Plan(std::span<const Contribution> all, std::span<const int> nodes, const Options& options)
    : all_(all.begin(), all.end()),
      algorithm_(options.algorithm == Algorithm::automatic ? choose(all, options.large_piece) : options.algorithm) {
  if (algorithm_ == Algorithm::individual) return;
  std::vector<uint32_t> ranks = writers(all);
  if (ranks.empty()) return;
  const size_t aggregators = options.aggregators > 0 ? options.aggregators : number_of_nodes(nodes);
  if (algorithm_ == Algorithm::two_phase) {
    groups_.push_back(make_group(std::move(ranks), all, nodes, aggregators, options.alignment));
    return;
  }
  const size_t least = std::max<size_t>(options.aggregators_per_group, 1);
  const uint64_t bytes = std::max<uint64_t>(bytes_of(ranks, all), 1);
  for (std::vector<uint32_t>& members : divide(ranks, all, std::max<size_t>(aggregators / least, 1))) {
    // A group has as many of the aggregators as of the bytes.
    const size_t share = static_cast<size_t>((bytes_of(members, all) * aggregators + bytes / 2) / bytes);
    groups_.push_back(make_group(std::move(members), all, nodes, std::max(least, share), options.alignment));
  }
}

template <class Keep>
std::vector<Stream> Plan::streams(Keep keep) const {
  std::vector<Stream> kept;
  for (const Group& group : groups_) {
    for (const Group::Domain& domain : group.domains) {
      for (const uint32_t member : group.members) {
        const bool has_some = all_[member].begin < domain.end && domain.begin < all_[member].end;
        if (has_some && keep(member, domain.aggregator)) {
          kept.push_back({member, domain.aggregator, domain.begin, domain.end});
        }
      }
    }
  }
  return kept;
}

std::vector<Stream> Plan::from(uint32_t rank) const {
  return streams([rank](uint32_t member, uint32_t) { return member == rank; });
}

std::vector<Stream> Plan::to(uint32_t rank) const {
  return streams([rank](uint32_t, uint32_t aggregator) { return aggregator == rank; });
}

size_t Plan::members_with(uint32_t rank) const {
  for (const Group& group : groups_) {
    if (std::find(group.members.begin(), group.members.end(), rank) != group.members.end()) {
      return group.members.size();
    }
  }
  return 0;
}

}  // namespace tailrace::collective
