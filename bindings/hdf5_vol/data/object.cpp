#include "hdf5_vol/data/object.hpp"

#include <utility>

#include "hdf5_vol/data/dataset.hpp"
#include "hdf5_vol/data/prefetch_dataset.hpp"
#include "hdf5_vol/files/request.hpp"

namespace tailrace::hdf5 {

void* wrap(Host& host, void* under) {
  return under != nullptr ? new Object{host, under, {}, {}, {}, {}, {}, {}} : nullptr;
}

void* wrap(const Object& from, void* under) {
  void* const pointer = wrap(from.host, under);
  if (pointer != nullptr) object_at(pointer).within = from.within;
  return pointer;
}

void* wrap(Host& host, std::unique_ptr<Request> request) {
  return new Object{host, nullptr, {}, {}, std::move(request), {}, {}, {}};
}

void unwrap(void* pointer) { delete static_cast<Object*>(pointer); }

}  // namespace tailrace::hdf5
