// Makes callbacks that pass a call to the native connector unchanged, each of the host's function: `pass<&Host::…>`.
//
// The native connector has no requests, so these callbacks ask for none: their work is done when they return.
#pragma once

#include "hdf5_vol/callbacks/lead_out.hpp"
#include "hdf5_vol/data/object.hpp"
#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

template <class T>
T below(T argument) {
  return argument;
}
inline void** below(void** /*request*/) { return nullptr; }

template <auto function>
struct Passed;

template <class... A, herr_t (*Host::*function)(void*, hid_t, A...)>
struct Passed<function> {
  static herr_t call(void* pointer, A... arguments) {
    const Object& object = object_at(pointer);
    return (object.host.*function)(object.under, object.host.native, below(arguments)...);
  }
};

template <class... A, herr_t (*Host::*function)(void*, const H5VL_loc_params_t*, hid_t, A...)>
struct Passed<function> {
  static herr_t call(void* pointer, const H5VL_loc_params_t* where, A... arguments) {
    const Object& object = object_at(pointer);
    return (object.host.*function)(object.under, where, object.host.native, below(arguments)...);
  }
};

// Creates or opens an object, by a name that may lead out of the file.
template <class... A, void* (*Host::*function)(void*, const H5VL_loc_params_t*, hid_t, A...)>
struct Passed<function> {
  static void* call(void* pointer, const H5VL_loc_params_t* where, A... arguments) {
    Host& host = object_at(pointer).host;
    return wrap(object_at(pointer), call_leading_out(host, [&] {
                  return (host.*function)(object_at(pointer).under, where, host.native, below(arguments)...);
                }));
  }
};

template <auto function>
constexpr auto pass = &Passed<function>::call;

// Closes an object, and forgets it if that succeeds.
template <herr_t (*Host::*function)(void*, hid_t, hid_t, void**)>
herr_t pass_close(void* pointer, hid_t dxpl, void**) {
  Host& host = object_at(pointer).host;
  const herr_t closed = (host.*function)(object_at(pointer).under, host.native, dxpl, nullptr);
  if (closed >= 0) unwrap(pointer);
  return closed;
}

}  // namespace tailrace::hdf5
