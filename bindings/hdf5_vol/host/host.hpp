// Host: the HDF5 library that has loaded this plugin, and its functions.
//
// The plugin is linked to no HDF5. It takes the functions from the very library that calls it, which it finds by the
// return address. So one binary serves every HDF5 from 1.14 on: that of a C program and those in Python wheels, even
// two in one process. Identifiers (hid_t) of one host mean nothing to another.
#pragma once

#include <hdf5.h>

#include <memory>
#include <string>
#include <vector>

// <hdf5.h> includes H5VLconnector.h; these two are for authors of connectors.
#include <H5VLconnector.h>
#include <H5VLconnector_passthru.h>
#include <H5VLnative.h>

// HDF5's constants are macros that initialise the library first. It is initialised when it calls a plugin.
#undef H5CHECK
#define H5CHECK
#undef H5OPEN
#define H5OPEN

// Every function of HDF5 that the connector calls, by its name.
// clang-format off
#define TAILRACE_HDF5_FUNCTIONS(F) \
  F(H5VLget_connector_id_by_value) F(H5VLclose) F(H5VLget_object) F(H5VLobject) F(H5VLwrap_object) \
  F(H5VLunwrap_object) F(H5VLintrospect_get_conn_cls) F(H5VLintrospect_opt_query) \
  F(H5VLoptional) F(H5VLattr_create) F(H5VLattr_open) F(H5VLattr_read) F(H5VLattr_write) F(H5VLattr_get) \
  F(H5VLattr_specific) F(H5VLattr_optional) F(H5VLattr_close) F(H5VLdataset_create) F(H5VLdataset_open) \
  F(H5VLdataset_read) F(H5VLdataset_write) F(H5VLdataset_get) F(H5VLdataset_specific) F(H5VLdataset_optional) \
  F(H5VLdataset_close) F(H5VLdatatype_commit) F(H5VLdatatype_open) F(H5VLdatatype_get) F(H5VLdatatype_specific) \
  F(H5VLdatatype_optional) F(H5VLdatatype_close) F(H5VLfile_create) F(H5VLfile_open) F(H5VLfile_get) \
  F(H5VLfile_specific) F(H5VLfile_optional) F(H5VLfile_close) F(H5VLgroup_create) F(H5VLgroup_open) \
  F(H5VLgroup_get) F(H5VLgroup_specific) F(H5VLgroup_optional) F(H5VLgroup_close) F(H5VLlink_create) \
  F(H5VLlink_copy) F(H5VLlink_move) F(H5VLlink_get) F(H5VLlink_specific) F(H5VLlink_optional) \
  F(H5VLobject_open) F(H5VLobject_copy) F(H5VLobject_get) F(H5VLobject_specific) F(H5VLobject_optional) \
  F(H5VLblob_put) F(H5VLblob_get) F(H5VLblob_specific) F(H5VLblob_optional) F(H5VLtoken_cmp) \
  F(H5VLtoken_to_str) F(H5VLtoken_from_str) F(H5Pcopy) F(H5Pclose) F(H5Pset_vol) F(H5Pget_driver) \
  F(H5Pget_page_buffer_size) F(H5Pset_sieve_buf_size) F(H5Pget_chunk) F(H5Pget_chunk_opts) F(H5Pget_nfilters) \
  F(H5Pget_filter2) F(H5Zfilter_avail) F(H5Pget_layout) F(H5Pget_external_count) F(H5Pget_alloc_time) \
  F(H5Pset_alloc_time) F(H5Pget_fill_time) F(H5Pset_fill_time) F(H5Pget_fill_value) F(H5Pfill_value_defined) \
  F(H5Pget_data_transform) F(H5Sget_simple_extent_npoints) F(H5Sget_select_npoints) \
  F(H5Sget_select_bounds) F(H5Sget_simple_extent_dims) F(H5Sget_select_type) F(H5Sselect_valid) F(H5Screate_simple) \
  F(H5Sselect_hyperslab) F(H5Sclose) \
  F(H5Ssel_iter_create) F(H5Ssel_iter_get_seq_list) F(H5Ssel_iter_close) F(H5Tcopy) F(H5Tget_size) F(H5Tequal) \
  F(H5Tdetect_class) F(H5Tis_variable_str) F(H5Tclose) F(H5Tconvert) F(H5Tget_class) F(H5Eregister_class) \
  F(H5Eunregister_class) F(H5Ecreate_stack) F(H5Ecreate_msg) F(H5Epush2) F(H5Eauto_is_v2) F(H5Eget_auto2) \
  F(H5Eset_auto2) F(H5Eget_current_stack) F(H5Eset_current_stack) F(H5Pequal) F(H5Pexist) F(H5Pget) F(H5Pset) \
  F(H5Pcopy_prop) \
  F(H5Pget_chunk_cache) F(H5Pget_cache) F(H5PLappend) F(H5PLsize) F(H5PLget) \
  F(H5Pset_chunk_cache) F(H5Pget_userblock) F(H5Pget_vol_info) F(H5Pget_sieve_buf_size) F(H5get_libversion) \
  F(H5atclose) F(H5Iiterate) F(H5Idec_ref)
// clang-format on

namespace tailrace::hdf5 {

class Dataset;

struct Host {
#define TAILRACE_HDF5_MEMBER(name) decltype(&::name) name = nullptr;
  TAILRACE_HDF5_FUNCTIONS(TAILRACE_HDF5_MEMBER)
#undef TAILRACE_HDF5_MEMBER

  // Functions of parallel HDF5; null in a serial one.
  herr_t (*get_mpio_transfer)(hid_t, H5FD_mpio_xfer_t*) = nullptr;
  herr_t (*set_mpio_transfer)(hid_t, H5FD_mpio_xfer_t) = nullptr;
  herr_t (*get_metadata_together)(hid_t, hbool_t*) = nullptr;
  // In HDF5 from 1.14.1 on; else null.
  herr_t (*get_selection_io)(hid_t, H5D_selection_io_mode_t*) = nullptr;
  // Opens and closes a library state within a call, as if no call were in progress. In 1.14 it takes no argument. May
  // be null.
  herr_t (*open_state)(void**) = nullptr;
  herr_t (*close_state)(void*) = nullptr;

  std::string library;             // its path
  std::string wheel_filters;       // see wheel_filters_of
  const void* base = nullptr;      // where it is loaded: its identity
  void* handle = nullptr;          // from dlopen
  hid_t native = H5I_INVALID_HID;  // the connector below; set from initialize on
  // The default transfer properties, for our own calls; set from initialize on. Not H5P_DEFAULT: some of the calls
  // for connectors leave their list to the call that HDF5 is in the middle of.
  hid_t transfer = H5I_INVALID_HID;
  // Types and their sizes; set from initialize on.
  struct Predefined {
    hid_t type;
    size_t bytes;
  };
  std::vector<Predefined> predefined;
  hid_t dataset_creation = H5I_INVALID_HID;  // the default creation properties of datasets; set from initialize on
  hid_t dataset_access = H5I_INVALID_HID;    // … and their access properties
  hid_t errors = H5I_INVALID_HID;            // the error class and its messages
  hid_t error_major = H5I_INVALID_HID;
  hid_t error_minor = H5I_INVALID_HID;
  bool opens_together = false;            // has opened files shared by several processes
  bool ending = false;                    // closes all that is open, and can report no failure
  void* wrap_context = nullptr;           // of the wrap callbacks; set from their first call on
  std::shared_ptr<Dataset> left_to_hdf5;  // see Dataset; set from the first one on

  // Call it when the host is initialised as far as connectors need it.
  void take_constants();
  // Returns true if it is one of HDF5's own number types, which the program cannot change or close.
  bool is_predefined(hid_t type) const { return predefined_bytes(type) > 0; }
  // Same as H5Tget_size, but faster for predefined types.
  size_t bytes_of(hid_t type) const {
    const size_t bytes = predefined_bytes(type);
    return bytes > 0 ? bytes : H5Tget_size(type);
  }
  // Returns true for integers, floats and complex numbers, which HDF5 converts into each other.
  bool is_number(hid_t type) const;
  // Returns 1 or 2. Some structures differ in 2.
  unsigned major() const;
  // Returns the identifier of the driver for plain files. Finds it by name, since versions differ in how to get it.
  hid_t sec2() const;
  // Returns the identifier of the driver for files of several processes; none if HDF5 is serial.
  hid_t mpio() const;
  bool is_parallel() const { return set_mpio_transfer != nullptr && get_metadata_together != nullptr; }
  // Returns 0 if the type is not predefined.
  size_t predefined_bytes(hid_t type) const {
    if (type <= 0) return 0;  // a type that the library does not have
    for (const Predefined& each : predefined) {
      if (each.type == type) return each.bytes;
    }
    return 0;
  }
  // Closes a property list and keeps the error stack, which a call of HDF5 would clear.
  void close_list(hid_t list) const;
};

// While it lives, the library has a state as in a call of the program, so that connector functions may be called.
class LibraryState {
 public:
  explicit LibraryState(const Host& host)
      : host_(host), open_(host.open_state != nullptr && host.open_state(&state_) >= 0) {}
  ~LibraryState() {
    if (open_) host_.close_state(state_);
  }
  LibraryState(const LibraryState&) = delete;
  LibraryState& operator=(const LibraryState&) = delete;
  bool is_open() const { return open_; }

 private:
  const Host& host_;
  void* state_ = nullptr;
  const bool open_;
};

// Returns the host whose code contains `caller` (a return address). Returns null, with a message, if it is no HDF5 or
// lacks a function. Finds known hosts again without a search. The host lives as long as the process.
Host* host_of(const void* caller, std::string* why = nullptr);

}  // namespace tailrace::hdf5
