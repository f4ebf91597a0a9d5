// On which cpu the server of a node runs: one of the node's that is reserved for it.
#pragma once

#include <vector>

#include "model/config.hpp"

namespace tailrace::impl {

// Binds this process, whatever it inherited from the client that started it: `automatic` to the last cpu of the node
// (the last but one for server 1, and so on), `list` to what is given, one cpu a server in turn; `none` to all. On a
// node with a single cpu it stays where the system likes. Returns where it is bound; empty: nowhere. It runs as a
// batch process, which does not preempt a computation on waking.
std::vector<int> bind_server(CpuChoice choice, const std::vector<int>& list, int server);

}  // namespace tailrace::impl
