#include "hdf5_vol/host/identifier.hpp"

namespace tailrace::hdf5 {
namespace {

// The wrapper whose identifier this thread looks for.
thread_local void* searched = nullptr;

struct Search {
  const Host& host;
  const void* wrapper;
  hid_t found = H5I_INVALID_HID;
};

herr_t look_at(hid_t identifier, void* data) {
  Search& search = *static_cast<Search*>(data);
  if (search.host.H5VLobject(identifier) != search.wrapper) return 0;
  search.found = identifier;
  return 1;
}

}  // namespace

void* behind_empty(const void* wrapper) { return wrapper == searched ? searched : nullptr; }

// Keeps the error stack, which calls of HDF5 would clear.
void release_identifier_of_file(const Host& host, void* wrapper) {
  const hid_t stack = host.H5Eget_current_stack();
  Search search{host, wrapper};
  searched = wrapper;
  host.H5Iiterate(H5I_FILE, look_at, &search);
  searched = nullptr;
  if (search.found >= 0) host.H5Idec_ref(search.found);
  if (stack >= 0) host.H5Eset_current_stack(stack);
}

}  // namespace tailrace::hdf5
