#include "hdf5_vol/data/unlinked.hpp"

#include "hdf5_vol/data/dataset.hpp"
#include "hdf5_vol/data/object.hpp"
#include "hdf5_vol/data/parallel.hpp"
#include "hdf5_vol/files/files.hpp"
#include "hdf5_vol/host/inquiry.hpp"

namespace tailrace::hdf5 {

// In a file of several processes, each of them makes such a call, so all have the same value.
void note_unlinked(const Object& object, H5I_type_t type) {
  File::note_unlinked();
  const std::shared_ptr<File> file = File::any_parallel() ? Dataset::file_around(object, type) : nullptr;
  if (file != nullptr) file->has_unlinked = true;
}

void drain_before_close(const Object& group) {
  if (!File::may_have_unlinked()) return;
  const H5O_info2_t info = identity_of(group.host, group.under, H5I_GROUP);
  if (info.rc != 0) return;
  const std::shared_ptr<File> file = file_of(group.host, info.fileno);
  if (file == nullptr) return;
  if (file->is_parallel() ? file->has_unlinked : file->writes().any()) drain_everywhere(group, H5I_GROUP);
}

}  // namespace tailrace::hdf5
