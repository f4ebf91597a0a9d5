#include "lab/inside/forward_study/parameters.hpp"

#include <fmt/format.h>

namespace tailrace::impl::study {
namespace {

// The paper's data servers, cluster grimoire of Grid'5000, have Seagate ST600MM0088 (Grid'5000's reference
// repository): 600 GB, 10 000 rpm. Seeks are those of the older Savvio 10K.4 of this size, without the controller's
// 0.2 ms: 0.3 ms to the next track, 7.8 ms full stroke; latency 3.0 ms (product manual).
DiskParameters sas10k() {
  DiskParameters disk;
  disk.name = "sas10k";
  disk.half_turn = std::chrono::microseconds(3000);
  disk.settle = std::chrono::microseconds(300);
  disk.full_stroke = std::chrono::microseconds(7810);
  disk.capacity = 600'127'266'816;
  return disk;
}

// A SATA drive of the time: what is left if seeks cost nothing.
DiskParameters flash() {
  DiskParameters disk;
  disk.name = "flash";
  disk.half_turn = Nanoseconds::zero();
  disk.settle = Nanoseconds::zero();
  disk.full_stroke = Nanoseconds::zero();
  disk.rate = 450e6;
  return disk;
}

}  // namespace

std::string name_of(const Schedule& schedule) {
  switch (schedule.kind) {
    case Kind::none: return "no forwarding";
    case Kind::fifo: return "fifo";
    case Kind::hbrr: return "hbrr";
    case Kind::adaptive: return "adaptive";
    case Kind::twins: break;
  }
  return fmt::format("twins {:g} ms", std::chrono::duration<double, std::milli>(schedule.window).count());
}

DiskParameters disk_of(const std::string& name) {
  if (name == "sata7200") return {};
  if (name == "sas10k") return sas10k();
  if (name == "flash") return flash();
  DiskParameters none;
  none.name.clear();
  return none;
}

}  // namespace tailrace::impl::study
