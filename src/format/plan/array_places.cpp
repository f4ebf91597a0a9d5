#include "format/plan/array_places.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kWord = 8;

uint64_t bytes_of_whole(const Layout& layout) {
  uint64_t bytes = size_of(layout.type);
  for (const uint64_t extent : layout.global_shape) bytes *= extent;
  return bytes;
}

}  // namespace

uint64_t next_place(uint64_t end, uint64_t bytes) {
  const uint64_t unit = bytes >= kPage ? kPage : kWord;
  return (end + unit - 1) / unit * unit;
}

ArrayPlaces array_places(const Declarations& declared, const Layouts& layouts, uint64_t begin) {
  ArrayPlaces places{{}, begin};
  for (const Variable& variable : declared.variables) {
    const auto [place, is_new] = places.of.try_emplace(variable.dataset);
    if (!is_new) continue;
    const uint64_t bytes = bytes_of_whole(*layouts[variable.layout]);
    place->second = {next_place(places.end, bytes), bytes};
    places.end = place->second.end();
  }
  return places;
}

}  // namespace tailrace::impl
