// take_first: removes the first request of a queue and returns it. Schedulers use it; it owns nothing.
//
// The queue must not be empty. Requests are borrowed, as everywhere in this folder.
#pragma once

#include <deque>

#include "model/request.hpp"

namespace tailrace::impl {

inline const Request* take_first(std::deque<const Request*>& from) {
  const Request* const first = from.front();
  from.pop_front();
  return first;
}

}  // namespace tailrace::impl
