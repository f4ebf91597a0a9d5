// The one function that libtailrace_ucx.so exports; transport/transport_module.hpp describes it. The other sources of
// this folder are linked into the module with hidden symbols.
#include "transport/transport_module.hpp"
#include "transport/ucx/ucx_transport.hpp"

namespace tailrace::impl {
namespace {

Transport* open_transport(Doorbell& doorbell, const TransportOptions& options, Status& why) {
  Result<std::unique_ptr<UcxTransport>> made = UcxTransport::create(doorbell, options);
  if (made.ok()) return std::move(made).value().release();
  why = made.status();
  return nullptr;
}

constexpr TransportModule kModule{kTransportBuild, &open_transport};

}  // namespace
}  // namespace tailrace::impl

extern "C" __attribute__((visibility("default"))) const tailrace::impl::TransportModule* tailrace_transport_module();

const tailrace::impl::TransportModule* tailrace_transport_module() { return &tailrace::impl::kModule; }
