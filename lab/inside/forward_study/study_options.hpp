// StudyOptions: the command line of forward_study. Every parameter of the study has a word there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "lab/inside/forward_study/parameters.hpp"

namespace tailrace::impl::study {

struct StudyOptions {
  Parameters parameters;
  std::vector<Schedule> schedules;
  uint32_t runs = 8;  // the paper's
  uint64_t seed = 1;
  std::string json;     // file to write; empty: none
  bool sweeps = false;  // show how the result depends on the parameters
  struct Scale {
    uint32_t nodes = 0;
    uint32_t forwarders = 0;
  };
  std::optional<Scale> scale;  // run the study of many nodes instead
  bool helps = false;
};

std::string usage();
// Fails with TAILRACE_INVALID_ARGUMENT.
Result<StudyOptions> read_options(const std::vector<std::string>& words);

}  // namespace tailrace::impl::study
