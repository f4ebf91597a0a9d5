// bind_server: binds the server of a node to a cpu that is reserved for it.
#pragma once

#include <vector>

#include "model/config/settings.hpp"

namespace tailrace::impl {

struct ServerCpus {
  std::vector<int> cpus = {};  // empty: not bound
  std::vector<int> away = {};  // where it may run instead while others want `cpus`; empty: it stays
};

// Binds this process, whatever it inherited from the client that started it. `automatic`: the last cpu of the node
// (the last but one for server 1, and so on). `list`: the given cpus, one per server in turn. `none`: all cpus. On a
// node with a single cpu it is not bound. The process becomes a batch process, which does not preempt a computation
// on waking.
ServerCpus bind_server(CpuChoice choice, const std::vector<int>& list, int server);

}  // namespace tailrace::impl
