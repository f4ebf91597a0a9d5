#include "format/xdmf/xdmf_text.hpp"

#include <fmt/format.h>

#include <iterator>

namespace tailrace::impl {
namespace {

// The name of a type and its bytes, as XDMF has them; no name: it has no such type.
struct NumberType {
  const char* name = nullptr;
  int bytes = 0;
};

NumberType number_type(ElementType type) {
  switch (type) {
    case ElementType::int8: return {"Int", 1};
    case ElementType::int16: return {"Int", 2};
    case ElementType::int32: return {"Int", 4};
    case ElementType::int64: return {"Int", 8};
    case ElementType::uint8:
    case ElementType::boolean: return {"UInt", 1};
    case ElementType::uint16: return {"UInt", 2};
    case ElementType::uint32: return {"UInt", 4};
    case ElementType::uint64: return {"UInt", 8};
    case ElementType::float32: return {"Float", 4};
    case ElementType::float64: return {"Float", 8};
    case ElementType::long_double:
    case ElementType::float16:
    case ElementType::complex64:
    case ElementType::complex128: return {};
  }
  return {};
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  }
  return result;
}

// Writes the text, element by element.
class Text {
 public:
  std::string write(const XdmfIteration& iteration) {
    put("<?xml version=\"1.0\" ?>\n<Xdmf Version=\"3.0\">\n  <Domain>\n");
    put("    <Grid Name=\"iteration {}\" GridType=\"Collection\" CollectionType=\"Spatial\">\n", iteration.number);
    put("      <Time Value=\"{}\"/>\n", iteration.time);
    for (const XdmfLeftOut& one : iteration.left_out) {
      put("      <Information Name=\"left out\" Value=\"{}: {}\"/>\n", escaped(one.name), escaped(one.why));
    }
    for (const XdmfGrid& grid : iteration.grids) put_grid(grid);
    put("    </Grid>\n  </Domain>\n</Xdmf>\n");
    return std::move(text_);
  }

 private:
  template <class... T>
  void put(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<T>(values)...);
  }

  void put_grid(const XdmfGrid& grid) {
    put("      <Grid Name=\"{}\" GridType=\"Uniform\">\n", escaped(grid.name));
    const std::string nodes = fmt::format("{}", fmt::join(grid.nodes, " "));
    const size_t rank = grid.nodes.size();
    switch (grid.kind) {
      case XdmfGrid::Kind::uniform:
        put("        <Topology TopologyType=\"{}DCoRectMesh\" Dimensions=\"{}\"/>\n", rank, nodes);
        put("        <Geometry GeometryType=\"{}\">\n", rank == 2 ? "ORIGIN_DXDY" : "ORIGIN_DXDYDZ");
        put_numbers(grid.origin);
        put_numbers(grid.spacing);
        break;
      case XdmfGrid::Kind::rectilinear:
        put("        <Topology TopologyType=\"{}DRectMesh\" Dimensions=\"{}\"/>\n", rank, nodes);
        put("        <Geometry GeometryType=\"{}\">\n", rank == 2 ? "VXVY" : "VXVYVZ");
        for (const XdmfData& one : grid.coordinates) put_data(one, "          ");
        break;
      case XdmfGrid::Kind::curvilinear:
        put("        <Topology TopologyType=\"{}DSMesh\" Dimensions=\"{}\"/>\n", rank, nodes);
        put_points(grid);
        break;
      case XdmfGrid::Kind::points:
        put("        <Topology TopologyType=\"Polyvertex\" NumberOfElements=\"{}\"/>\n", nodes);
        put_points(grid);
        break;
    }
    put("        </Geometry>\n");
    for (const XdmfField& field : grid.fields) {
      put("        <Attribute Name=\"{}\" AttributeType=\"Scalar\" Center=\"{}\">\n", escaped(field.name),
          field.of_cells ? "Cell" : "Node");
      put_data(field.data, "          ");
      put("        </Attribute>\n");
    }
    put("      </Grid>\n");
  }

  // Missing coordinates are zeros, computed from one that exists.
  void put_points(const XdmfGrid& grid) {
    put("        <Geometry GeometryType=\"X_Y_Z\">\n");
    for (const XdmfData& one : grid.coordinates) put_data(one, "          ");
    for (size_t i = grid.coordinates.size(); i < 3; ++i) {
      put("          <DataItem ItemType=\"Function\" Function=\"$0 * 0\" Dimensions=\"{}\">\n",
          fmt::join(grid.coordinates[0].shape, " "));
      put_data(grid.coordinates[0], "            ");
      put("          </DataItem>\n");
    }
  }

  void put_numbers(const std::vector<double>& numbers) {
    put("          <DataItem Dimensions=\"{}\" Format=\"XML\" NumberType=\"Float\" Precision=\"8\">{}</DataItem>\n",
        numbers.size(), fmt::join(numbers, " "));
  }

  void put_data(const XdmfData& data, const char* indent) {
    const auto [name, bytes] = number_type(data.type);
    put("{}<DataItem Dimensions=\"{}\" Format=\"HDF\" NumberType=\"{}\" Precision=\"{}\">{}:/{}</DataItem>\n", indent,
        fmt::join(data.shape, " "), name, bytes, escaped(data.file), escaped(data.dataset));
  }

  std::string text_;
};

}  // namespace

bool is_in_xdmf(ElementType type) { return number_type(type).name != nullptr; }

std::string xdmf_text(const XdmfIteration& iteration) { return Text().write(iteration); }

}  // namespace tailrace::impl
