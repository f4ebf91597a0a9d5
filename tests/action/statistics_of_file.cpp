// statistics_of_file TYPE FILE: prints the statistics of a file of raw elements, for statistics_numpy.py.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "action/statistics.hpp"

using namespace tailrace::impl;

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::ifstream file(argv[2], std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  for (int i = 0; i <= static_cast<int>(ElementType::long_double); ++i) {
    const auto type = static_cast<ElementType>(i);
    if (std::string(name_of(type)) != argv[1]) continue;
    const Statistics found = statistics_of(std::as_bytes(std::span(bytes)), type);
    std::printf("%llu %llu %llu %.17g %.17g %.17g", static_cast<unsigned long long>(found.finite),
                static_cast<unsigned long long>(found.nan), static_cast<unsigned long long>(found.infinite),
                found.least, found.mean, found.most);
    for (const uint64_t count : found.histogram) std::printf(" %llu", static_cast<unsigned long long>(count));
    std::printf("\n");
    return 0;
  }
  return 2;
}
