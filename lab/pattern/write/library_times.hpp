// LibraryTimes: how long tailrace took to write each block, from the library's own statistics of the variable.
//
// The statistics are sums over all blocks so far. Between two of the program's steps they usually change by one
// block, whose time is then exact; if several have ended, each gets their mean.
#pragma once

#include <tailrace/tailrace.hpp>

#include <string>
#include <vector>

#include "lab/pattern/write/write_worker.hpp"

namespace bench {

class LibraryTimes {
 public:
  LibraryTimes(WriteTimes& times, int variables) : times_(times), seen_(static_cast<size_t>(variables)) {}

  // Notes the blocks of this variable that were written since the last look.
  void look(tailrace::Client& client, int variable) {
    tailrace_variable_stats stats{};
    stats.struct_size = sizeof stats;
    const std::string name = "v" + std::to_string(variable);
    tailrace::detail::check(client.handle(), tailrace_get_variable_stats(client.handle(), name.c_str(), &stats));
    Seen& seen = seen_[static_cast<size_t>(variable)];
    const double seconds = stats.queued.total + stats.writing.total;
    const auto blocks = static_cast<int>(stats.writing.count);
    for (int block = seen.blocks; block < blocks; ++block) {
      times_.set(variable, block, (seconds - seen.seconds) / (blocks - seen.blocks));  // one block for each iteration
    }
    if (blocks > seen.blocks) seen = {blocks, seconds};
  }

  void look_at_all(tailrace::Client& client) {
    for (int variable = 0; variable < static_cast<int>(seen_.size()); ++variable) look(client, variable);
  }

 private:
  struct Seen {
    int blocks = 0;
    double seconds = 0;
  };
  WriteTimes& times_;
  std::vector<Seen> seen_;
};

}  // namespace bench
