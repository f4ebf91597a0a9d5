// The connector's class for HDF5, and the two functions by which HDF5 finds the plugin.
#include <H5PLextern.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "hdf5_vol/callbacks/callbacks.hpp"
#include "hdf5_vol/files/files.hpp"
#include "hdf5_vol/host/errors.hpp"
#include "hdf5_vol/host/host.hpp"
#include "hdf5_vol/process/process.hpp"
#include "hdf5_vol/process/settings.hpp"

namespace tailrace::hdf5 {
namespace {

// One of the numbers that The HDF Group leaves free for anyone.
constexpr H5VL_class_value_t kValue = 0x7a1e & 0x7fff;

// The capabilities of the native connector, and asynchronous calls.
constexpr uint64_t kCapabilities = (H5VL_CAP_FLAG_FILL_VALUES << 1) - 1 - H5VL_CAP_FLAG_THREADSAFE -
                                   H5VL_CAP_FLAG_MAP_BASIC - H5VL_CAP_FLAG_MAP_MORE;

// Runs before the host closes anything.
void end(Host& host) {
  settle_chunks_of(host);
  host.ending = true;
}

herr_t initialize(hid_t) {
  Host* const host = host_of(__builtin_return_address(0));
  if (host == nullptr) return -1;
  host->native = host->H5VLget_connector_id_by_value(H5VL_NATIVE_VALUE);
  host->take_constants();
  host->ending = false;
  register_errors(*host);
  host->H5atclose([](void* ending) { end(*static_cast<Host*>(ending)); }, host);
  return host->native < 0 || host->transfer < 0 ? -1 : 0;
}

herr_t terminate() {
  Host* const host = host_of(__builtin_return_address(0));
  if (host == nullptr) return 0;
  unregister_errors(*host);
  if (host->native >= 0) host->H5VLclose(host->native);
  host->native = H5I_INVALID_HID;
  return 0;
}

// The information of a connector is what follows its name: here the unchanged text.
void* copy_information(const void* information) {
  return information != nullptr ? strdup(static_cast<const char*>(information)) : nullptr;
}

herr_t compare_information(int* order, const void* one, const void* other) {
  const auto text = [](const void* information) {
    return information != nullptr ? static_cast<const char*>(information) : "";
  };
  *order = std::strcmp(text(one), text(other));
  return 0;
}

herr_t free_information(void* information) {
  std::free(information);
  return 0;
}

herr_t information_to_text(const void* information, char** text) {
  *text = static_cast<char*>(copy_information(information));
  return 0;
}

// If this refused a wrong text, HDF5 would have no connector, and some programs crash. So it accepts the text; later
// no file can be opened, and the reason is reported then, too.
herr_t information_from_text(const char* text, void** information) {
  Settings settings;
  std::string why;
  if (parse_settings(text, settings, why)) {
    Process::instance().configure(settings);
    Process::instance().refuse("");
  } else {
    why = "the settings of the HDF5 connector: " + why;
    std::fprintf(stderr, "tailrace: %s\n", why.c_str());
    Process::instance().refuse(why);
  }
  *information = copy_information(text);
  return 0;
}

herr_t get_capabilities(const void*, uint64_t* flags) {
  *flags = kCapabilities;
  return 0;
}

}  // namespace

const H5VL_class_t& connector_class() {
  static const H5VL_class_t connector = [] {
    H5VL_class_t of{};
    of.version = H5VL_VERSION;
    of.value = kValue;
    of.name = "tailrace";
    of.conn_version = 1;
    of.cap_flags = kCapabilities;
    of.initialize = initialize;
    of.terminate = terminate;
    of.info_cls = {
        1, copy_information, compare_information, free_information, information_to_text, information_from_text};
    of.wrap_cls = wrap_callbacks;
    of.attr_cls = attribute_callbacks;
    of.dataset_cls = dataset_callbacks;
    of.datatype_cls = datatype_callbacks;
    of.file_cls = file_callbacks;
    of.group_cls = group_callbacks;
    of.link_cls = link_callbacks;
    of.object_cls = object_callbacks;
    of.introspect_cls = introspect_callbacks;
    of.introspect_cls.get_cap_flags = get_capabilities;
    of.request_cls = request_callbacks;
    of.blob_cls = blob_callbacks;
    of.token_cls = token_callbacks;
    of.optional = pass_optional;
    return of;
  }();
  return connector;
}

}  // namespace tailrace::hdf5

// HDF5 calls this function of a plugin first; its return address identifies the host.
H5PL_type_t H5PLget_plugin_type() {
  std::string why;
  if (tailrace::hdf5::host_of(__builtin_return_address(0), &why) != nullptr) return H5PL_TYPE_VOL;
  std::fprintf(stderr, "tailrace: the HDF5 connector cannot be used by this program: %s\n", why.c_str());
  return H5PL_TYPE_ERROR;
}

const void* H5PLget_plugin_info() { return &tailrace::hdf5::connector_class(); }
