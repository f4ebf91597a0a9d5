// run_testbed: runs processes that read or write, by themselves or through a forwarder each, as the processes of the
// study do.
//
// Each makes one request after the other, with a storage of its own. They begin together; the time is that of the
// slowest.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"
#include "lab/inside/forward_study/parameters.hpp"
#include "lab/inside/forward_testbed/modelled_servers.hpp"

namespace tailrace::impl::study {

struct TestbedOptions {
  std::string directory;                // of the files, in memory
  std::vector<std::string> forwarders;  // process p uses number p modulo their count; none: no forwarding
  std::vector<std::string> devices;     // the network device that leads to each forwarder; none: UCX chooses
  std::string key;                      // the forwarders' key file
  ModelledServers::Options servers;
  ProgramParameters program;
};

struct TestbedResult {
  double seconds = 0;  // from the common beginning until the last process has ended
  ModelledServers::Counts counts;
};

Result<TestbedResult> run_testbed(const TestbedOptions& options);

}  // namespace tailrace::impl::study
