// FunctionRef: a reference to a callable, valid during the call that it is passed to. Owns and allocates nothing.
#pragma once

#include <type_traits>
#include <utility>

namespace tailrace::impl {

template <class Signature>
class FunctionRef;

template <class R, class... Arguments>
class FunctionRef<R(Arguments...)> {
 public:
  // `callable` outlives this.
  template <class Callable>
  requires(!std::is_same_v<std::remove_cvref_t<Callable>, FunctionRef>)
      FunctionRef(Callable&& callable)  // NOLINT: implicit on purpose
      : callable_(const_cast<void*>(static_cast<const void*>(&callable))),
        call_([](void* of, Arguments... arguments) {
          return (*static_cast<std::remove_reference_t<Callable>*>(of))(std::forward<Arguments>(arguments)...);
        }) {}

  R operator()(Arguments... arguments) const { return call_(callable_, std::forward<Arguments>(arguments)...); }

 private:
  void* callable_;
  R (*call_)(void*, Arguments...);
};

}  // namespace tailrace::impl
