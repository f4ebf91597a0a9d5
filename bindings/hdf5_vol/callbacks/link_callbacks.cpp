// Callbacks of links and objects, which pass them to the native connector unchanged. A call that may free space waits
// for the writes on their way, since HDF5 reuses free space.
#include "hdf5_vol/callbacks/callbacks.hpp"
#include "hdf5_vol/callbacks/pass.hpp"
#include "hdf5_vol/data/dataset.hpp"
#include "hdf5_vol/data/object.hpp"
#include "hdf5_vol/data/parallel.hpp"
#include "hdf5_vol/data/unlinked.hpp"
#include "hdf5_vol/files/files.hpp"
#include "hdf5_vol/process/process.hpp"

namespace tailrace::hdf5 {
namespace {

void* under_or_null(void* pointer) { return pointer != nullptr ? object_at(pointer).under : nullptr; }

// Links are created and copied with one or two objects, of which one may be missing.
Host& host_of_either(void* one, void* other) { return object_at(one != nullptr ? one : other).host; }

herr_t link_create(H5VL_link_create_args_t* arguments, void* pointer, const H5VL_loc_params_t* where, hid_t lcpl,
                   hid_t lapl, hid_t dxpl, void**) {
  H5VL_link_create_args_t below = *arguments;
  void* target = nullptr;
  if (below.op_type == H5VL_LINK_CREATE_HARD) {
    target = below.args.hard.curr_obj;
    below.args.hard.curr_obj = under_or_null(target);
  }
  const Host& host = host_of_either(pointer, target);
  return call_leading_out(host, [&] {
    return host.H5VLlink_create(&below, under_or_null(pointer), where, host.native, lcpl, lapl, dxpl, nullptr);
  });
}

herr_t link_copy(void* from, const H5VL_loc_params_t* from_where, void* to, const H5VL_loc_params_t* to_where,
                 hid_t lcpl, hid_t lapl, hid_t dxpl, void**) {
  const Host& host = host_of_either(from, to);
  return call_leading_out(host, [&] {
    return host.H5VLlink_copy(under_or_null(from), from_where, under_or_null(to), to_where, host.native, lcpl, lapl,
                              dxpl, nullptr);
  });
}

herr_t link_move(void* from, const H5VL_loc_params_t* from_where, void* to, const H5VL_loc_params_t* to_where,
                 hid_t lcpl, hid_t lapl, hid_t dxpl, void**) {
  const Host& host = host_of_either(from, to);
  return call_leading_out(host, [&] {
    return host.H5VLlink_move(under_or_null(from), from_where, under_or_null(to), to_where, host.native, lcpl, lapl,
                              dxpl, nullptr);
  });
}

herr_t link_get(void* pointer, const H5VL_loc_params_t* where, H5VL_link_get_args_t* arguments, hid_t dxpl, void**) {
  const Object& object = object_at(pointer);
  return call_leading_out(object.host, [&] {
    return object.host.H5VLlink_get(object.under, where, object.host.native, arguments, dxpl, nullptr);
  });
}

herr_t link_specific(void* pointer, const H5VL_loc_params_t* where, H5VL_link_specific_args_t* arguments, hid_t dxpl,
                     void**) {
  const Object& object = object_at(pointer);
  if (arguments->op_type == H5VL_LINK_DELETE) drain_before_delete(object, *where);
  const auto call = [&] {
    return object.host.H5VLlink_specific(object.under, where, object.host.native, arguments, dxpl, nullptr);
  };
  if (arguments->op_type != H5VL_LINK_ITER) return call_leading_out(object.host, call);
  wait_if_by_name(*where);
  return call();
}

void* object_open(void* pointer, const H5VL_loc_params_t* where, H5I_type_t* type, hid_t dxpl, void**) {
  const Object& object = object_at(pointer);
  Host& host = object.host;
  void* const opened = wrap(object, call_leading_out(host, [&] {
                              return host.H5VLobject_open(object.under, where, host.native, type, dxpl, nullptr);
                            }));
  if (opened != nullptr && *type == H5I_DATASET) Dataset::look_together(object_at(opened));
  return opened;
}

herr_t object_copy(void* from, const H5VL_loc_params_t* from_where, const char* from_name, void* to,
                   const H5VL_loc_params_t* to_where, const char* to_name, hid_t ocpypl, hid_t lcpl, hid_t dxpl,
                   void**) {
  drain_everywhere(object_at(from), from_where->obj_type);  // HDF5 reads what it copies …
  Process::instance().detached().wait_for_all();            // … and perhaps what its links lead to
  const Host& host = object_at(from).host;
  return host.H5VLobject_copy(object_at(from).under, from_where, from_name, object_at(to).under, to_where, to_name,
                              host.native, ocpypl, lcpl, dxpl, nullptr);
}

herr_t object_get(void* pointer, const H5VL_loc_params_t* where, H5VL_object_get_args_t* arguments, hid_t dxpl,
                  void**) {
  const Object& object = object_at(pointer);
  const Host& host = object.host;
  return call_leading_out(
      host, [&] { return host.H5VLobject_get(object.under, where, host.native, arguments, dxpl, nullptr); });
}

herr_t object_specific(void* pointer, const H5VL_loc_params_t* where, H5VL_object_specific_args_t* arguments,
                       hid_t dxpl, void**) {
  const Object& object = object_at(pointer);
  const Host& host = object.host;
  const bool may_free = arguments->op_type == H5VL_OBJECT_CHANGE_REF_COUNT && arguments->args.change_rc.delta < 0;
  if (may_free) drain_before_unlink(object, where->obj_type);
  if (arguments->op_type == H5VL_OBJECT_FLUSH) drain_all(host);
  const auto call = [&] {
    return host.H5VLobject_specific(object.under, where, host.native, arguments, dxpl, nullptr);
  };
  if (arguments->op_type == H5VL_OBJECT_VISIT) {
    wait_if_by_name(*where);
    return call();
  }
  const herr_t done = call_leading_out(host, call);
  // A link to a file that is on its way seems to lead nowhere.
  const bool asks_again = done >= 0 && arguments->op_type == H5VL_OBJECT_EXISTS && !*arguments->args.exists.exists &&
                          Process::instance().detached().any();
  if (!asks_again) return done;
  Process::instance().detached().wait_for_all();
  return call();
}

}  // namespace

const H5VL_link_class_t link_callbacks = {link_create, link_copy,     link_move,
                                          link_get,    link_specific, pass<&Host::H5VLlink_optional>};
const H5VL_object_class_t object_callbacks = {object_open, object_copy, object_get, object_specific,
                                              pass<&Host::H5VLobject_optional>};

}  // namespace tailrace::hdf5
