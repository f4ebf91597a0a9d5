// Shapes: the present layouts of one client. They are the configuration's, with the latest values of its parameters.
//
// Both halves of a session have one and see the same settings in the same order. The client needs it for the sizes of
// its blocks, the server to interpret the blocks. A layout that no setting changes stays the same object. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "model/block.hpp"
#include "model/declarations.hpp"

namespace tailrace::impl {

class Shapes {
 public:
  struct Setting {
    uint32_t parameter = 0;  // index into Declarations::parameters
    Number value;
  };

  // The values, and the layouts that follow from them.
  struct State {
    std::vector<Number> values;  // by parameter
    Layouts layouts;
  };

  // Starts with the values of the configuration. Borrows `declared`. `budget`: the most bytes of a block.
  Shapes(const Declarations& declared, uint64_t budget);

  const std::shared_ptr<const Layout>& of(uint32_t variable) const {
    return now_.layouts[declared_.variables[variable].layout];
  }

  // Returns all present layouts.
  const std::shared_ptr<const Layouts>& all() const { return all_; }

  // Returns the state after all these settings. Fails if a layout would be invalid: TAILRACE_WRONG_SHAPE,
  // TAILRACE_TOO_LARGE for blocks that do not fit into the budget, TAILRACE_INVALID_ARGUMENT for a parameter that
  // cannot be set, or not to that value: an integer is set to integers, a real number to finite numbers.
  Result<State> with(std::span<const Setting> settings) const;
  void take(State state) {
    now_ = std::move(state);
    all_ = std::make_shared<const Layouts>(now_.layouts);
  }

 private:
  Result<std::vector<Number>> values_with(std::span<const Setting> settings) const;
  Result<Number> value_for(const Parameter& parameter, const Number& value) const;
  Result<Layout> evaluate(const Layout& layout, const std::vector<Number>& values) const;
  Status check(const Layout& layout) const;

  const Declarations& declared_;
  const uint64_t budget_;
  State now_;
  std::shared_ptr<const Layouts> all_;
};

// Returns the first dimension in which a block exceeds the whole array; none if it lies inside.
std::optional<size_t> dimension_outside(const Layout& layout);
// Returns the bytes of an array; none if there are more than file formats can count.
std::optional<uint64_t> checked_bytes(std::span<const uint64_t> shape, ElementType type);

}  // namespace tailrace::impl
