#include "object.hpp"

#include "dataset.hpp"

namespace tailrace::hdf5 {

void* wrap(Host& host, void* under) { return under != nullptr ? new Object{host, under, nullptr, nullptr} : nullptr; }

void unwrap(void* pointer) { delete static_cast<Object*>(pointer); }

}  // namespace tailrace::hdf5
