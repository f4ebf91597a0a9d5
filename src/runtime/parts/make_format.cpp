#include "runtime/parts/make_format.hpp"

#include "base/assert.hpp"
#include "format/hdf5/hdf5_format.hpp"
#include "runtime/parts/provenance.hpp"

namespace tailrace::impl {

Status check_format(const Config& config) {
  switch (config.format.kind) {
    case FormatKind::hdf5:
    case FormatKind::plain: return Hdf5Format::check_usable();
  }
  TAILRACE_ASSERT(false);
}

void rehearse_format(const Config& config, int client) {
  switch (config.format.kind) {
    case FormatKind::hdf5:
    case FormatKind::plain: return Hdf5Format::rehearse(config, client);
  }
  TAILRACE_ASSERT(false);
}

std::unique_ptr<Format> make_format(const Config& config, FileSystem& files, int client, const std::string& run) {
  switch (config.format.kind) {
    case FormatKind::hdf5:
    case FormatKind::plain:
      return std::make_unique<Hdf5Format>(config, files, Hdf5Format::Options{client, machine_name(), date_now, run});
  }
  TAILRACE_ASSERT(false);
}

}  // namespace tailrace::impl
