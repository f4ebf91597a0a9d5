// Callbacks that pass attributes, named datatypes, groups, blobs and tokens to the native connector unchanged.
#include "hdf5_vol/callbacks/callbacks.hpp"
#include "hdf5_vol/callbacks/pass.hpp"
#include "hdf5_vol/data/object.hpp"
#include "hdf5_vol/data/unlinked.hpp"
#include "hdf5_vol/files/files.hpp"
#include "hdf5_vol/host/identifier.hpp"

namespace tailrace::hdf5 {
namespace {

// ---- wrapping ------------------------------------------------------------------------------------------------

// The native connector has no wrap context.
struct WrapContext {
  Host& host;
  std::shared_ptr<File> within;  // null: the context is the one that the host keeps
};

void* get_object(const void* pointer) {
  const Object& object = object_at(pointer);
  return object.under != nullptr ? object.host.H5VLget_object(object.under, object.host.native)
                                 : behind_empty(pointer);
}

// HDF5 calls this in nearly every call.
herr_t get_wrap_context(const void* pointer, void** context) {
  const Object& object = object_at(pointer);
  Host& host = object.host;
  if (object.within) {
    *context = new WrapContext{host, object.within.file()};
    return 0;
  }
  if (host.wrap_context == nullptr) host.wrap_context = new WrapContext{host, nullptr};
  *context = host.wrap_context;
  return 0;
}

void* wrap_object(void* pointer, H5I_type_t type, void* context) {
  const WrapContext& of = *static_cast<WrapContext*>(context);
  void* const wrapped = wrap(of.host, of.host.H5VLwrap_object(pointer, type, of.host.native, nullptr));
  if (wrapped != nullptr) object_at(wrapped).within = Within(of.within);
  return wrapped;
}

void* unwrap_object(void* pointer) {
  const Object& object = object_at(pointer);
  void* under = object.host.H5VLunwrap_object(object.under, object.host.native);
  if (under != nullptr) unwrap(pointer);
  return under;
}

herr_t free_wrap_context(void* context) {
  const auto* const of = static_cast<WrapContext*>(context);
  if (of->within != nullptr) delete of;
  return 0;
}

// ---- attributes -----------------------------------------------------------------------------------------------

herr_t attribute_get(void* pointer, H5VL_attr_get_args_t* arguments, hid_t dxpl, void**) {
  const Object& object = object_at(pointer);
  const Host& host = object.host;
  return call_leading_out(host,
                          [&] { return host.H5VLattr_get(object.under, host.native, arguments, dxpl, nullptr); });
}

herr_t attribute_specific(void* pointer, const H5VL_loc_params_t* where, H5VL_attr_specific_args_t* arguments,
                          hid_t dxpl, void**) {
  const Object& object = object_at(pointer);
  const Host& host = object.host;
  // If the attribute does not exist, the native connector leaves the answer unset, which H5Aexists_async does not
  // expect.
  if (arguments->op_type == H5VL_ATTR_EXISTS) *arguments->args.exists.exists = false;
  const auto call = [&] {
    return host.H5VLattr_specific(object.under, where, host.native, arguments, dxpl, nullptr);
  };
  if (arguments->op_type != H5VL_ATTR_ITER) return call_leading_out(host, call);
  wait_if_by_name(*where);
  return call();
}

// ---- groups ---------------------------------------------------------------------------------------------------

void* group_create(void* pointer, const H5VL_loc_params_t* where, const char* name, hid_t lcpl, hid_t gcpl,
                   hid_t gapl, hid_t dxpl, void**) {
  Host& host = object_at(pointer).host;
  if (name == nullptr) note_unlinked(object_at(pointer), where->obj_type);
  return wrap(object_at(pointer), call_leading_out(host, [&] {
                return host.H5VLgroup_create(object_at(pointer).under, where, host.native, name, lcpl, gcpl, gapl,
                                             dxpl, nullptr);
              }));
}

// Keeps a mounted file open as long as the file that it is mounted on.
void keep_open(Object& on, const std::shared_ptr<File>& file) {
  if (!on.within) {
    on.within = Within(file);
  } else if (on.within.file() != file) {
    on.within->keep(file);
  }
}

herr_t group_specific(void* pointer, H5VL_group_specific_args_t* arguments, hid_t dxpl, void**) {
  const Object& object = object_at(pointer);
  const Host& host = object.host;
  if (arguments->op_type != H5VL_GROUP_MOUNT) {
    return host.H5VLgroup_specific(object.under, host.native, arguments, dxpl, nullptr);
  }
  H5VL_group_specific_args_t below = *arguments;
  const Object& child = object_at(arguments->args.mount.child_file);
  below.args.mount.child_file = child.under;
  const herr_t mounted = host.H5VLgroup_specific(object.under, host.native, &below, dxpl, nullptr);
  if (mounted >= 0 && child.within) keep_open(object_at(pointer), child.within.file());
  return mounted;
}

herr_t group_close(void* pointer, hid_t dxpl, void**) {
  Host& host = object_at(pointer).host;
  drain_before_close(object_at(pointer));
  const herr_t closed = host.H5VLgroup_close(object_at(pointer).under, host.native, dxpl, nullptr);
  if (closed >= 0) unwrap(pointer);
  return closed;
}

// ---- capabilities --------------------------------------------------------------------------------------------

herr_t get_connector_class(void* pointer, H5VL_get_conn_lvl_t level, const H5VL_class_t** found) {
  const Object& object = object_at(pointer);
  if (level == H5VL_GET_CONN_LVL_CURR) {
    *found = &connector_class();
    return 0;
  }
  return object.host.H5VLintrospect_get_conn_cls(object.under, object.host.native, level, found);
}

herr_t query_optional(void* pointer, H5VL_subclass_t subclass, int operation, uint64_t* flags) {
  const Object& object = object_at(pointer);
  return object.host.H5VLintrospect_opt_query(object.under, object.host.native, subclass, operation, flags);
}

// ---- tokens ---------------------------------------------------------------------------------------------------

herr_t token_to_text(void* pointer, H5I_type_t type, const H5O_token_t* token, char** text) {
  const Object& object = object_at(pointer);
  const Host& host = object.host;
  return host.H5VLtoken_to_str(object.under, type, host.native, token, text);
}

herr_t token_from_text(void* pointer, H5I_type_t type, const char* text, H5O_token_t* token) {
  const Object& object = object_at(pointer);
  const Host& host = object.host;
  return host.H5VLtoken_from_str(object.under, type, host.native, text, token);
}

}  // namespace

const H5VL_wrap_class_t wrap_callbacks = {get_object, get_wrap_context, wrap_object, unwrap_object,
                                          free_wrap_context};
const H5VL_attr_class_t attribute_callbacks = {pass<&Host::H5VLattr_create>,
                                               pass<&Host::H5VLattr_open>,
                                               pass<&Host::H5VLattr_read>,
                                               pass<&Host::H5VLattr_write>,
                                               attribute_get,
                                               attribute_specific,
                                               pass<&Host::H5VLattr_optional>,
                                               pass_close<&Host::H5VLattr_close>};
const H5VL_datatype_class_t datatype_callbacks = {
    pass<&Host::H5VLdatatype_commit>,   pass<&Host::H5VLdatatype_open>,     pass<&Host::H5VLdatatype_get>,
    pass<&Host::H5VLdatatype_specific>, pass<&Host::H5VLdatatype_optional>, pass_close<&Host::H5VLdatatype_close>};
const H5VL_group_class_t group_callbacks = {
    group_create,   pass<&Host::H5VLgroup_open>,     pass<&Host::H5VLgroup_get>,
    group_specific, pass<&Host::H5VLgroup_optional>, group_close};
const H5VL_introspect_class_t introspect_callbacks = {get_connector_class, nullptr, query_optional};
const H5VL_blob_class_t blob_callbacks = {pass<&Host::H5VLblob_put>, pass<&Host::H5VLblob_get>,
                                          pass<&Host::H5VLblob_specific>, pass<&Host::H5VLblob_optional>};
const H5VL_token_class_t token_callbacks = {pass<&Host::H5VLtoken_cmp>, token_to_text, token_from_text};

herr_t pass_optional(void* pointer, H5VL_optional_args_t* arguments, hid_t dxpl, void**) {
  const Object& object = object_at(pointer);
  return object.host.H5VLoptional(object.under, object.host.native, arguments, dxpl, nullptr);
}

}  // namespace tailrace::hdf5
