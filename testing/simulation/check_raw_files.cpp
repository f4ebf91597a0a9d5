#include "testing/simulation/check_raw_files.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tailrace::impl::simulation {

void check_raw_files(const SimDisk& disk, const Faults& faults, const RawFileModels& models, bool power_cut,
                     Story& story) {
  for (const auto& [path, file] : models.files) {
    const auto fail = [&, of = path](const std::string& what) { story.fail("raw file", "'" + of + "' " + what); };
    const InodePointer inode = disk.find(path);
    if (inode == nullptr) {
      if (file.must_exist(power_cut)) fail("is not there");
      continue;
    }
    RawReader reader;
    reader.after_power_cut = power_cut;
    reader.may_be_torn = std::any_of(faults.causes.begin(), faults.causes.end(),
                                     [&, of = path](const Cause& cause) { return cause.path == of; });
    const uint64_t size = inode->bytes.size();
    if (size < file.least_size(reader)) fail(fmt::format("ends at {}, too early", size));
    if (size > file.most_size(reader)) fail(fmt::format("ends at {}, behind all that was written", size));
    const std::string what = file.difference(reader, {0, size}, inode->bytes.data());
    if (!what.empty()) fail("holds what must not be there: " + what);
  }
}

}  // namespace tailrace::impl::simulation
