// Plan: which process sends which part of a file to which aggregator. Pure: all processes compute the same plan from
// the same contributions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collective/contribution.hpp"
#include "collective/options.hpp"

namespace tailrace::collective {

// A process sends all that it has in a file domain to the domain's aggregator.
struct Stream {
  uint32_t member = 0;
  uint32_t aggregator = 0;
  uint64_t begin = 0;  // of the file domain, by offsets in the file
  uint64_t end = 0;
};

// Some processes, and the file domains that their data are divided into. Domains are in ascending order.
struct Group {
  struct Domain {
    uint32_t aggregator = 0;
    uint64_t begin = 0;
    uint64_t end = 0;
  };
  std::vector<uint32_t> members;  // ranks, in ascending order of where their data begin
  std::vector<Domain> domains;
};

class Plan {
 public:
  // `all`: the contributions by rank; `nodes`: the node of each rank, any numbers.
  Plan(std::span<const Contribution> all, std::span<const int> nodes, const Options& options);

  // Never `automatic`.
  Algorithm algorithm() const { return algorithm_; }
  const std::vector<Group>& groups() const { return groups_; }  // none, if each process writes its own bytes
  // Return the streams of a rank, in ascending order of file domains, or of members.
  std::vector<Stream> from(uint32_t rank) const;
  std::vector<Stream> to(uint32_t rank) const;
  // Returns how many members the group of the rank has; 0: it is in none.
  size_t members_with(uint32_t rank) const;

 private:
  template <class Keep>
  std::vector<Stream> streams(Keep keep) const;

  std::vector<Contribution> all_;
  Algorithm algorithm_;
  std::vector<Group> groups_;
};

// Returns the algorithm that `automatic` stands for, if pieces of `large_piece` bytes are written as fast by the
// processes that have them.
Algorithm choose(std::span<const Contribution> all, uint64_t large_piece);

}  // namespace tailrace::collective
