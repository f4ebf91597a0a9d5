// Files that a crash may leave, and malicious ones: is_complete and find_dataset.
//
// The first byte says what the input is: a file as it is (3), or a script that damages one of ours. Properties:
// neither function crashes or leaves HDF5 with open objects; a file whose superblock is not the written one, or that
// is shorter than it claims, is not complete; one that is complete without forgery opens in HDF5; and what
// find_dataset finds is within the file, for an undamaged file where the format put it. Only is_complete sees files
// with forged checksums: HDF5 1.14.6 crashes on those with wrong B-trees (H5F_get_checksums reads beyond a node).
#include <hdf5.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "format/hdf5/inspect_file.hpp"
#include "format/metadata/commit_record.hpp"
#include "format/openpmd/handle.hpp"
#include "sample_file.hpp"
#include "scratch_folder.hpp"
#include "storage/os/os_file_system.hpp"
#include "target.hpp"

namespace tailrace::fuzz {
namespace {

using impl::Extent;
using impl::Result;

// The file of all inputs.
const std::string& scratch_file(const std::vector<std::byte>& bytes) {
  static const std::string path = scratch_folder() + "/file.h5";
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  TAILRACE_REQUIRE(file.good());
  return path;
}

const SampleFile& sample(size_t kind) {
  // Without variables; with few, whose links lie in the group's header; with many, whose links lie in a heap.
  static const SampleFile samples[] = {SampleFile(0), SampleFile(2), SampleFile(12)};
  return samples[kind];
}

bool opens(const std::string& path) {
  const impl::LibraryLock lock;
  const impl::Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_file_locking(access.id(), false, true);
  const impl::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
  H5Eclear2(H5E_DEFAULT);
  return file.valid();
}

// Looks for a few datasets; returns how many it found.
size_t find_datasets(const std::string& path, uint64_t size, const SampleFile& file, bool damaged) {
  impl::OsFileSystem files;
  const impl::Layout layout = SampleFile::layout();
  size_t count = 0;
  for (size_t i = 0; i <= file.variables(); ++i) {  // one more than there are
    const Result<Extent> extent =
        impl::find_dataset(files, path, SampleFile::iteration, {SampleFile::name_of(i), "meshes", &layout, false});
    if (!extent.ok()) {
      TAILRACE_REQUIRE(!extent.status().fault().message.empty());
      continue;
    }
    ++count;
    TAILRACE_REQUIRE(extent.value().length == SampleFile::bytes_of_variable);
    TAILRACE_REQUIRE(extent.value().length <= size);
    TAILRACE_REQUIRE(extent.value().offset <= size - extent.value().length);
    if (!damaged) TAILRACE_REQUIRE(extent.value().offset == file.offsets()[i]);
  }
  return count;
}

void require_nothing_open() {
  const impl::LibraryLock lock;
  TAILRACE_REQUIRE(H5Fget_obj_count(static_cast<hid_t>(H5F_OBJ_ALL), H5F_OBJ_ALL) == 0);
}

void check(const std::vector<std::byte>& bytes, const SampleFile& file, bool is_sample, bool forged) {
  const std::string& path = scratch_file(bytes);
  impl::OsFileSystem files;
  const Result<bool> complete = impl::is_complete(files, path);
  TAILRACE_REQUIRE(complete.ok());
  const auto& written = file.bytes();
  const bool damaged = bytes != written;
  if (!damaged) TAILRACE_REQUIRE(complete.value());
  if (is_sample && !forged) {
    const bool same_head = bytes.size() >= written.size() &&
                           std::equal(written.begin(), written.begin() + impl::kSuperblockBytes, bytes.begin());
    if (!same_head) TAILRACE_REQUIRE(!complete.value());
    if (complete.value()) TAILRACE_REQUIRE(opens(path));
  }
  require_nothing_open();
  if (is_sample && forged) return;
  const size_t found = find_datasets(path, bytes.size(), file, damaged);
  if (!damaged) TAILRACE_REQUIRE(found == file.variables());
  require_nothing_open();
}

}  // namespace
}  // namespace tailrace::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tailrace::fuzz;
  Input input(data, size);
  const size_t kind = input.number(1) % 4;
  if (kind == 3) {
    std::vector<std::byte> bytes(input.left());
    if (!bytes.empty()) std::memcpy(bytes.data(), input.rest(), bytes.size());
    check(bytes, sample(1), false, true);
    return 0;
  }
  bool forged = false;
  const std::vector<std::byte> bytes = sample(kind).damaged(input, forged);
  check(bytes, sample(kind), true, forged);
  return 0;
}
