#include "api/expect.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/names/counted.hpp"

namespace tailrace::impl {
namespace {

// Both enumerations list the same types in the same order.
static_assert(static_cast<int>(ElementType::int8) + 1 == TAILRACE_INT8);
static_assert(static_cast<int>(ElementType::uint64) + 1 == TAILRACE_UINT64);
static_assert(static_cast<int>(ElementType::long_double) + 1 == TAILRACE_LONG_DOUBLE);
static_assert(static_cast<int>(ElementType::complex128) + 1 == TAILRACE_COMPLEX128);

tailrace_type type_of(ElementType type) { return static_cast<tailrace_type>(static_cast<int>(type) + 1); }

bool is_type(int type) { return type >= TAILRACE_INT8 && type <= TAILRACE_COMPLEX128; }

Status wrong(tailrace_status code, const Variable& variable, std::string message) {
  Fault fault;
  fault.code = code;
  fault.variable = variable.name;
  fault.message = fmt::format("variable '{}': {}", variable.name, message);
  return Status(std::move(fault));
}

// Returns the shape that programs see.
std::vector<uint64_t> shape_of(const Layout& layout) {
  return layout.scalar ? std::vector<uint64_t>() : layout.shape;
}

}  // namespace

tailrace_variable_info describe_variable(const Layout& layout) {
  tailrace_variable_info info{};
  info.struct_size = sizeof info;
  info.type = type_of(layout.type);
  const std::vector<uint64_t> shape = shape_of(layout);
  info.rank = static_cast<int>(shape.size());
  std::copy(shape.begin(), shape.end(), info.shape);
  info.bytes = layout.bytes();
  return info;
}

Status expect(const Variable& variable, const Layout& layout, int type, std::span<const uint64_t> shape) {
  if (!is_type(type)) {
    return wrong(TAILRACE_INVALID_ARGUMENT, variable, fmt::format("found type {}, expected a tailrace_type", type));
  }
  if (type != type_of(layout.type)) {
    return wrong(TAILRACE_WRONG_TYPE, variable,
                 fmt::format("found elements of {}, expected {} (layout '{}')",
                             name_of(static_cast<ElementType>(type - 1)), name_of(layout.type), layout.name));
  }
  if (shape.size() > TAILRACE_MAX_RANK) {
    // A rank like this is the caller's mistake, so `shape` may not have that many entries.
    return wrong(TAILRACE_WRONG_SHAPE, variable,
                 fmt::format("found {}, expected [{}] (layout '{}')", counted(shape.size(), "dimension"),
                             fmt::join(shape_of(layout), ", "), layout.name));
  }
  if (!std::ranges::equal(shape, shape_of(layout))) {
    return wrong(TAILRACE_WRONG_SHAPE, variable,
                 fmt::format("found shape [{}], expected [{}] (layout '{}')", fmt::join(shape, ", "),
                             fmt::join(shape_of(layout), ", "), layout.name));
  }
  return {};
}

}  // namespace tailrace::impl
