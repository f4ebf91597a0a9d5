#include "hdf5_vol/host/host.hpp"

#include <dlfcn.h>

#include <deque>
#include <map>
#include <mutex>
#include <type_traits>

#include "hdf5_vol/host/wheel_filters.hpp"

namespace tailrace::hdf5 {
namespace {

// Never destroyed, since HDF5 ends after everything else. The elements do not move.
struct Hosts {
  std::mutex mutex;  // guards all below, which only grows
  std::deque<Host> all;
  std::map<const void*, Host*> callers;
};

Hosts& hosts() {
  static Hosts* const only = new Hosts;
  return *only;
}

Host* find(const void* base) {
  const std::lock_guard lock(hosts().mutex);
  for (Host& host : hosts().all) {
    if (host.base == base) return &host;
  }
  return nullptr;
}

// Returns the library that has called from this address before; else null. To look for it among the symbols takes as
// long as ten system calls.
Host* find_caller(const void* caller) {
  const std::lock_guard lock(hosts().mutex);
  const auto found = hosts().callers.find(caller);
  return found != hosts().callers.end() ? found->second : nullptr;
}

Host* note_caller(const void* caller, Host* host) {
  const std::lock_guard lock(hosts().mutex);
  return hosts().callers[caller] = host;
}

// Number types that programs mostly have in memory, and their sizes.
struct Number {
  const char* variable;
  size_t bytes;
};
constexpr Number kNumbers[] = {{"H5T_NATIVE_DOUBLE_g", sizeof(double)},
                               {"H5T_NATIVE_FLOAT_g", sizeof(float)},
                               {"H5T_NATIVE_INT_g", sizeof(int)},
                               {"H5T_NATIVE_UINT_g", sizeof(unsigned)},
                               {"H5T_NATIVE_LONG_g", sizeof(long)},
                               {"H5T_NATIVE_ULONG_g", sizeof(long)},
                               {"H5T_NATIVE_LLONG_g", sizeof(int64_t)},
                               {"H5T_NATIVE_ULLONG_g", sizeof(int64_t)},
                               {"H5T_NATIVE_SHORT_g", sizeof(short)},
                               {"H5T_NATIVE_USHORT_g", sizeof(short)},
                               {"H5T_NATIVE_SCHAR_g", 1},
                               {"H5T_NATIVE_UCHAR_g", 1},
                               {"H5T_IEEE_F64LE_g", 8},
                               {"H5T_IEEE_F32LE_g", 4},
                               {"H5T_STD_I64LE_g", 8},
                               {"H5T_STD_U64LE_g", 8},
                               {"H5T_STD_I32LE_g", 4},
                               {"H5T_STD_U32LE_g", 4},
                               {"H5T_STD_I16LE_g", 2},
                               {"H5T_STD_U16LE_g", 2},
                               {"H5T_STD_I8LE_g", 1},
                               {"H5T_STD_U8LE_g", 1}};

// Returns the name of the first function that is missing; null if there is none.
const char* take_functions(Host& host) {
#define TAILRACE_HDF5_TAKE(name)                                                \
  host.name = reinterpret_cast<decltype(host.name)>(dlsym(host.handle, #name)); \
  if (host.name == nullptr) return #name;
  TAILRACE_HDF5_FUNCTIONS(TAILRACE_HDF5_TAKE)
#undef TAILRACE_HDF5_TAKE
  return nullptr;
}

// Takes the functions that only some hosts have.
void take_other_functions(Host& host) {
  const auto take = [&host](auto& function, const char* name) {
    if (function == nullptr) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(host.handle, name));
    }
  };
  take(host.get_selection_io, "H5Pget_selection_io");
  take(host.open_state, "H5VLopen_lib_context");
  take(host.open_state, "H5VLstart_lib_state");
  take(host.close_state, "H5VLclose_lib_context");
  take(host.close_state, "H5VLfinish_lib_state");
  if (host.open_state == nullptr || host.close_state == nullptr) return;
  take(host.get_mpio_transfer, "H5Pget_dxpl_mpio");
  take(host.set_mpio_transfer, "H5Pset_dxpl_mpio");
  take(host.get_metadata_together, "H5Pget_coll_metadata_write");
}

// Returns an identifier that is a variable of the library. A program that names it may have its own copy, which the
// library then uses from the start; the library's own is never set.
hid_t constant(void* handle, const char* name) {
  for (void* const where : {handle, RTLD_DEFAULT}) {
    const void* const at = dlsym(where, name);
    if (at != nullptr && *static_cast<const hid_t*>(at) > 0) return *static_cast<const hid_t*>(at);
  }
  return H5I_INVALID_HID;
}

// Up to 1.14 a function registers the driver when it is first called; from 2.0 on a variable has it.
hid_t driver(void* handle, const char* variable, const char* function) {
  if (dlsym(handle, variable) != nullptr) return constant(handle, variable);
  if (void* at = dlsym(handle, function)) return reinterpret_cast<hid_t (*)()>(at)();
  return H5I_INVALID_HID;
}

}  // namespace

Host* host_of(const void* caller, std::string* why) {
  if (Host* const known = find_caller(caller)) return known;
  Dl_info info;
  if (dladdr(caller, &info) == 0) {
    if (why != nullptr) *why = "the caller lies in no library";
    return nullptr;
  }
  if (Host* const known = find(info.dli_fbase)) return note_caller(caller, known);
  Host host;
  host.base = info.dli_fbase;
  host.library = info.dli_fname;
  host.wheel_filters = wheel_filters_of(host.library);
  host.handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (host.handle == nullptr) host.handle = dlopen(nullptr, RTLD_LAZY);  // HDF5 is linked into the program itself
  if (const char* missing = take_functions(host)) {
    if (why != nullptr) *why = host.library + " has no function " + missing + " that a plugin could find";
    dlclose(host.handle);
    return nullptr;
  }
  take_other_functions(host);
  const std::lock_guard lock(hosts().mutex);
  return &hosts().all.emplace_back(std::move(host));
}

void Host::take_constants() {
  transfer = constant(handle, "H5P_LST_DATASET_XFER_ID_g");
  dataset_creation = constant(handle, "H5P_LST_DATASET_CREATE_ID_g");
  dataset_access = constant(handle, "H5P_LST_DATASET_ACCESS_ID_g");
  predefined.clear();
  for (const Number& number : kNumbers) predefined.push_back({constant(handle, number.variable), number.bytes});
}

bool Host::is_number(hid_t type) const {
  constexpr int kComplex = 11;  // H5T_COMPLEX of 2.0, which these headers lack; no class of 1.14 has this number
  const H5T_class_t of = H5Tget_class(type);
  return of == H5T_INTEGER || of == H5T_FLOAT || static_cast<int>(of) == kComplex;
}

hid_t Host::sec2() const { return driver(handle, "H5FD_SEC2_id_g", "H5FD_sec2_init"); }

hid_t Host::mpio() const {
  return is_parallel() ? driver(handle, "H5FD_MPIO_id_g", "H5FD_mpio_init") : H5I_INVALID_HID;
}

void Host::close_list(hid_t list) const {
  const hid_t stack = H5Eget_current_stack();
  H5Pclose(list);
  if (stack >= 0) H5Eset_current_stack(stack);
}

unsigned Host::major() const {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return major;
}

}  // namespace tailrace::hdf5
