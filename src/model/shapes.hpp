// Shapes: the layouts of one client at present: the configuration's, as the latest values of its parameters make
// them.
//
// Both halves of a session have one, which see the same settings in the same order: the client to know how large its
// blocks are, the server to know what it is given. A layout that no setting changes stays the same object. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "model/config.hpp"

namespace tailrace::impl {

class Shapes {
 public:
  struct Setting {
    uint32_t parameter = 0;  // index into Config::parameters
    int64_t value = 0;
  };

  // Values and the layouts that follow from them.
  struct State {
    std::vector<int64_t> values;                         // by parameter
    std::vector<std::shared_ptr<const Layout>> layouts;  // by index into Config::layouts
  };

  // As the configuration says, which is borrowed.
  explicit Shapes(const Config& config);

  const std::shared_ptr<const Layout>& of(uint32_t variable) const {
    return now_.layouts[config_.variables[variable].layout];
  }

  // Returns the layouts that all these settings together make. Fails if a layout may not be so: TAILRACE_WRONG_SHAPE,
  // TAILRACE_TOO_LARGE for blocks that do not fit into the budget, TAILRACE_INVALID_ARGUMENT for a parameter that
  // cannot be set.
  Result<State> with(std::span<const Setting> settings) const;
  void take(State state) { now_ = std::move(state); }

 private:
  Result<std::vector<int64_t>> values_with(std::span<const Setting> settings) const;
  Result<Layout> evaluate(const Layout& layout, const std::vector<int64_t>& values) const;
  Status check(const Layout& layout) const;

  const Config& config_;
  State now_;
};

// The first dimension in which a block does not lie inside the whole array, if there is one.
std::optional<size_t> dimension_outside(const Layout& layout);
// Bytes of an array, or nothing if there are more than file formats can count.
std::optional<uint64_t> checked_bytes(std::span<const uint64_t> shape, ElementType type);

}  // namespace tailrace::impl
