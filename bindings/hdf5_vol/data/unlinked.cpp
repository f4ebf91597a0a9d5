#include "hdf5_vol/data/unlinked.hpp"

#include <memory>
#include <optional>

#include "hdf5_vol/data/dataset.hpp"
#include "hdf5_vol/data/object.hpp"
#include "hdf5_vol/data/parallel.hpp"
#include "hdf5_vol/files/files.hpp"
#include "hdf5_vol/host/errors.hpp"
#include "hdf5_vol/host/inquiry.hpp"

namespace tailrace::hdf5 {
namespace {

bool is_hard(const Object& object, const H5VL_loc_params_t& link) {
  H5L_info2_t info{};
  H5VL_link_get_args_t arguments{};
  arguments.op_type = H5VL_LINK_GET_INFO;
  arguments.args.get_info.linfo = &info;
  const Host& host = object.host;
  const herr_t got = host.H5VLlink_get(object.under, &link, host.native, &arguments, host.transfer, nullptr);
  return got >= 0 && info.type == H5L_TYPE_HARD;
}

// Returns the bytes of the file that a contiguous dataset has; none of any other.
std::optional<tailrace_extent> extent_of(const Object& object, const H5VL_loc_params_t& by_name) {
  const Host& host = object.host;
  const H5VL_loc_params_t from{by_name.obj_type, H5VL_OBJECT_BY_SELF, {}};
  void* const dataset = host.H5VLdataset_open(object.under, &from, host.native, by_name.loc_data.loc_by_name.name,
                                              host.dataset_access, host.transfer, nullptr);
  if (dataset == nullptr) return std::nullopt;
  hsize_t bytes = 0;
  H5VL_dataset_get_args_t asked{};
  asked.op_type = H5VL_DATASET_GET_STORAGE_SIZE;
  asked.args.get_storage_size.storage_size = &bytes;
  const haddr_t address = place_of(host, dataset);
  const bool known =
      address != HADDR_UNDEF && host.H5VLdataset_get(dataset, host.native, &asked, host.transfer, nullptr) >= 0;
  host.H5VLdataset_close(dataset, host.native, host.transfer, nullptr);
  return known ? std::optional(tailrace_extent{address, bytes}) : std::nullopt;
}

// Returns true if all that is written to the space which the deletion of the link may free is known to be there.
bool frees_complete_space(const Object& object, const H5VL_loc_params_t& link) {
  if (link.type != H5VL_OBJECT_BY_NAME || File::any_parallel() || !is_hard(object, link)) return false;
  const H5O_info2_t info = identity_of(object.host, object.under, link);
  if (info.type != H5O_TYPE_DATASET || info.fileno == 0) return false;
  const std::shared_ptr<File> file = file_of(object.host, info.fileno);
  if (file == nullptr) return false;
  file->writes().look_what_is_written();
  const std::optional<tailrace_extent> freed = extent_of(object, link);
  if (!freed || file->writes().any(*freed)) return false;
  file->ahead().forget();  // it may have read from there
  return true;
}

}  // namespace

// In a file of several processes, each of them makes such a call, so all have the same value.
void note_unlinked(const Object& object, H5I_type_t type) {
  File::note_unlinked();
  const std::shared_ptr<File> file = File::any_parallel() ? Dataset::file_around(object, type) : nullptr;
  if (file != nullptr) file->has_unlinked = true;
}

void drain_before_unlink(const Object& object, H5I_type_t type) {
  drain_everywhere(object, type);
  note_unlinked(object, type);
}

void drain_before_delete(const Object& object, const H5VL_loc_params_t& link) {
  if (!any_on_their_way(object.host)) return drain_before_unlink(object, link.obj_type);
  bool waits = true;
  {
    const Quiet quiet(object.host);
    const hid_t stack = object.host.H5Eget_current_stack();  // a link that does not exist adds errors
    waits = !quiet.can() || !frees_complete_space(object, link);
    object.host.H5Eset_current_stack(stack);
  }
  waits ? drain_before_unlink(object, link.obj_type) : note_unlinked(object, link.obj_type);
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
