// load_transport: finds and loads the module of a transport, libtailrace_tcp.so or libtailrace_ucx.so, and opens it.
//
// So a process loads OpenSSL, or needs UCX, only if it forwards. The module stays loaded until the process ends: UCX
// has threads and exit handlers. Signal handlers that the module's libraries set when they are loaded are taken back:
// tailrace sets none. UCX also puts its own functions before the C library's mmap, munmap and others, when it is
// loaded, for the whole process; only the environment (UCX_MEM_MMAP_HOOK_MODE=none), which a library must not change,
// prevents that.
#pragma once

#include <memory>
#include <string>

#include "base/status.hpp"
#include "transport/transport.hpp"
#include "transport/transport_module.hpp"

namespace tailrace::impl {

enum class TransportKind { tcp, ucx };

// Loads the module `file`; empty: looks beside the library or program that contains this code, in an installation
// around it, and where a build puts it. Fails with TAILRACE_NOT_FOUND and names all places, or with
// TAILRACE_UNSUPPORTED if a library is not installed or cannot work here. The doorbell outlives the transport. Not on
// two threads at once, and not while another thread changes signal handlers.
Result<std::unique_ptr<Transport>> load_transport(TransportKind kind, Doorbell& doorbell, TransportOptions options,
                                                  const std::string& file = {});

}  // namespace tailrace::impl
