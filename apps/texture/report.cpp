// See the header.
#include "report.hpp"

#include <fmt/format.h>

#include <fstream>

#include "error.hpp"

namespace texture {

std::string line_of(const Report& r, OutputKind kind) {
  return fmt::format(
      R"({{"texture_run": 1, )"
      R"("output": "{}", "ranks": {}, "channels": {}, "filters": {}, "rows": {}, "columns": {}, "bytes": {}, )"
      R"("seconds": {{"input": {:.6f}, "total": {:.6f}, "compute": {:.6f}, "output": {:.6f}, )"
      R"("open": {:.6f}, "finish": {:.6f}}}}})",
      name_of(kind), r.ranks, r.shape.channels, r.bank.size(), r.shape.rows, r.shape.columns, r.bytes, r.input,
      r.total, r.compute, r.output, r.open, r.finish);
}

void describe_file(const Report& r, const std::string& file) {
  std::string filters;
  for (const GaborFilter& filter : r.bank) {
    filters += fmt::format("{}\n    {{\"wavelength\": {:.9g}, \"angle\": {:.9g}, \"sigma\": {:.9g}}}",
                           filters.empty() ? "" : ",", filter.wavelength, filter.angle, filter.sigma);
  }
  std::ofstream out(file + ".json");
  out << fmt::format(
      "{{\n  \"dtype\": \"<f4\",\n  \"shape\": [{}, {}, {}, {}],\n"
      "  \"axes\": [\"channel\", \"filter\", \"row\", \"column\"],\n  \"filters\": [{}\n  ]\n}}\n",
      r.shape.channels, r.bank.size(), r.shape.rows, r.shape.columns, filters);
  out.close();
  if (!out) throw Error("cannot write '" + file + ".json'");
}

}  // namespace texture
