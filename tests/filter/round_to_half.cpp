// Rounds the raw numbers of a file to float16, for half_numpy.py.
//
//   round_to_half float32|float64|long_double best|plain FROM TO
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "filter/half.hpp"

int main(int count, char** arguments) {
  using namespace tailrace::impl;
  const std::string type_name = count == 5 ? arguments[1] : "";
  for (const ElementType type : {ElementType::float32, ElementType::float64, ElementType::long_double}) {
    if (type_name != name_of(type)) continue;
    std::ifstream file(arguments[3], std::ios::binary);
    const std::vector<char> from{std::istreambuf_iterator<char>(file), {}};
    std::vector<char> to(from.size() / size_of(type) * kHalfBytes);
    const HalfBy by = arguments[2] == std::string("plain") ? HalfBy::plain : HalfBy::best;
    to_half(std::as_bytes(std::span(from)), type, std::as_writable_bytes(std::span(to)), by);
    std::ofstream(arguments[4], std::ios::binary).write(to.data(), static_cast<std::streamsize>(to.size()));
    return 0;
  }
  std::fprintf(stderr, "usage: round_to_half float32|float64|long_double best|plain FROM TO\n");
  return 2;
}
