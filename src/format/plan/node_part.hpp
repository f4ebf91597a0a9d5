// NodePart: a file that several nodes write together, as one of them knows it when its own bytes are there: all that
// the metadata of the whole need.
//
// Each node publishes its part as a small file beside the unfinished one: "run_It3.h5.part.n0". The node that finds
// all parts makes the metadata of them (format/hdf5/joint_file.hpp). Bytes shared between nodes:
//
//   "tailrace node part" · u32 version · the members of NodePart in their order, as PackedBytes has them. A list, and
//   a text, begins with its count as u32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "format/format.hpp"
#include "model/attribute.hpp"
#include "model/variable.hpp"

namespace tailrace::impl {

struct NodePart {
  // A dataset of which this node has blocks.
  struct Array {
    std::string name;
    uint32_t variable = 0;  // the first one that it belongs to: an index into Config::variables
    ElementType type = ElementType::float64;
    std::vector<uint64_t> shape;  // of the whole
    uint64_t begin = 0;           // in the file
    std::optional<Number> fill_value;
    std::vector<std::pair<std::string, AttributeValue>> configured;
    std::vector<std::vector<uint64_t>> blocks;  // offset and shape of each, sorted
  };
  // An attribute that a client has set; of the iteration if `dataset` is empty.
  struct Set {
    std::string dataset;
    int32_t client = 0;
    Attribute attribute;
  };

  uint32_t node = 0;
  uint32_t nodes = 0;
  int64_t iteration = 0;
  uint64_t arrays_end = 0;  // of the space for arrays
  double time_unit = 1;     // in seconds
  double time_step = 1;     // the configuration's
  std::vector<Attribute> configured;
  std::vector<Array> arrays;
  std::vector<Set> attributes;
  std::vector<std::string> events;
  std::vector<std::pair<std::string, FindingValue>> findings;
  std::vector<uint64_t> missing;  // clients
  uint32_t missing_unnamed = 0;
};

std::vector<std::byte> to_bytes(const NodePart& part);
// Fails with TAILRACE_INVALID_ARGUMENT for bytes that to_bytes() does not make.
Result<NodePart> to_node_part(std::span<const std::byte> bytes);

// Returns the path of a node's part. `unfinished` is that of the file.
std::string part_path(const std::string& unfinished, uint32_t node);
// Returns the unfinished file to which a node's part of this name or path belongs, or its unfinished XDMF file, also
// if it is being written (".tmp"); empty: it is none.
std::string_view file_of_part(std::string_view part);

}  // namespace tailrace::impl
