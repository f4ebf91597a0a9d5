// The one function that libtailrace_ucx.so exports; transport/ucx_module.hpp describes it. The other sources of this
// folder are linked into the module with hidden symbols.
#include "transport/ucx/ucx_transport.hpp"
#include "transport/ucx_module.hpp"

namespace tailrace::impl {
namespace {

Transport* open_transport(Doorbell& doorbell, const UcxOptions& options, Status& why) {
  Result<std::unique_ptr<UcxTransport>> made = UcxTransport::create(doorbell, options);
  if (made.ok()) return std::move(made).value().release();
  why = made.status();
  return nullptr;
}

constexpr UcxModule kModule{kUcxModuleBuild, &open_transport};

}  // namespace
}  // namespace tailrace::impl

extern "C" __attribute__((visibility("default"))) const tailrace::impl::UcxModule* tailrace_ucx_module();

const tailrace::impl::UcxModule* tailrace_ucx_module() { return &tailrace::impl::kModule; }
