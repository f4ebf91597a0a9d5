#include "format/hdf5/joint_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace tailrace::impl {
namespace {

constexpr uint64_t kMostPart = uint64_t{1} << 30;  // bytes

Status not_together(const std::string& path, std::string_view what) {
  Fault fault;
  fault.code = TAILRACE_NOT_PUBLISHED;
  fault.operation = "complete";
  fault.file = path;
  fault.message = fmt::format("'{}' is not completed: {}", path, what);
  return Status(std::move(fault));
}

// Reads a whole file of tailrace's own; none if it is not there.
Result<std::optional<std::vector<std::byte>>> read_whole(FileSystem& files, const std::string& path) {
  const Result<Opened> opened = files.open(path, OpenMode::own_read, 0);
  if (!opened.ok()) {
    if (opened.status().fault().system_errno == ENOENT) return std::optional<std::vector<std::byte>>();
    return opened.status();
  }
  const Result<uint64_t> size = files.size(opened.value().file);
  std::vector<std::byte> bytes(size.ok() && size.value() <= kMostPart ? size.value() : 0);
  Result<size_t> count = size.ok() ? files.read(opened.value().file, 0, bytes) : Result<size_t>(size.status());
  if (size.ok() && size.value() > kMostPart) {  // no part is that long
    count = not_together(path, fmt::format("found {} bytes, expected at most {}", size.value(), kMostPart));
  }
  files.close(opened.value().file);
  if (!count.ok()) return count.status();
  bytes.resize(count.value());
  return std::optional(std::move(bytes));
}

Result<std::optional<NodePart>> read_part(FileSystem& files, const std::string& unfinished, uint32_t node) {
  const std::string path = part_path(unfinished, node);
  const auto bytes = read_whole(files, path);
  if (!bytes.ok()) return bytes.status();
  if (!bytes.value() || bytes.value()->empty()) return std::optional<NodePart>();  // empty: none will come
  Result<NodePart> part = to_node_part(*bytes.value());
  if (!part.ok() || part.value().node != node) {
    return not_together(unfinished, fmt::format("found '{}', expected the part of node {}", path, node));
  }
  return std::optional(std::move(part).value());
}

// Compares parts: do they describe one file?
class Agreement {
 public:
  explicit Agreement(const std::string& path) : path_(path) {}

  // The parts outlive this.
  Status add(const NodePart& part) {
    const NodePart& first = first_ == nullptr ? part : *first_;
    first_ = &first;
    bool agrees = part.nodes == first.nodes && part.iteration == first.iteration;
    if (!part.arrays.empty()) {  // else it does not know where they end
      agrees = agrees && (!end_ || *end_ == part.arrays_end);
      end_ = part.arrays_end;
    }
    if (!agrees) return not_together(path_, fmt::format("node {} does not agree with the others on it", part.node));
    for (const NodePart::Array& array : part.arrays) {
      const NodePart::Array& known = *arrays_.try_emplace(array.name, &array).first->second;
      if (known.begin == array.begin && known.shape == array.shape && known.type == array.type) continue;
      return not_together(
          path_, fmt::format("node {} does not agree with the others on the global shape of '{}': "
                             "found [{}], expected [{}]",
                             part.node, array.name, fmt::join(array.shape, ", "), fmt::join(known.shape, ", ")));
    }
    return {};
  }

 private:
  const std::string& path_;
  const NodePart* first_ = nullptr;
  std::optional<uint64_t> end_;
  std::map<std::string, const NodePart::Array*> arrays_;
};

void put_set(NodePart& part, const std::string& dataset, const IterationPlan::Attributes& attributes) {
  for (const auto& [name, noted] : attributes)
    part.attributes.push_back({dataset, noted.client, {name, noted.value}});
}

}  // namespace

NodePart part_of(const Config& config, int64_t iteration, const IterationPlan& plan) {
  NodePart part;
  part.node = static_cast<uint32_t>(config.place.node);
  part.nodes = static_cast<uint32_t>(config.place.nodes);
  part.iteration = iteration;
  part.arrays_end = plan.raw_end();
  part.time_unit = config.time.unit.factor;
  part.time_step = config.time.dt;
  part.configured = config.iteration_attributes;
  for (const auto& [name, dataset] : plan.datasets()) {
    const StoredAs as = plan.stored_as(dataset);
    const Variable& variable = config.variables[dataset.variable];
    part.arrays.push_back({name, dataset.variable, as.block->type, as.shape(), dataset.stored.extent.offset,
                           variable.fill_value, variable.attributes, dataset.stored.blocks});
  }
  put_set(part, "", plan.times());
  put_set(part, "", plan.attributes());
  for (const auto& [dataset, attributes] : plan.dataset_attributes()) put_set(part, dataset, attributes);
  part.events = plan.events();
  part.findings.assign(plan.findings().begin(), plan.findings().end());
  part.missing = plan.missing();
  part.missing_unnamed = plan.missing_unnamed();
  return part;
}

// Looks for one part after another: most nodes soon find a missing one.
Result<std::optional<std::vector<NodePart>>> read_parts(FileSystem& files, const std::string& unfinished) {
  std::vector<NodePart> parts;
  uint32_t nodes = 1;  // as the first part says
  for (uint32_t node = 0; node < nodes; ++node) {
    auto part = read_part(files, unfinished, node);
    if (!part.ok()) return part.status();
    if (!part.value()) return std::optional<std::vector<NodePart>>();
    nodes = node == 0 ? part.value()->nodes : nodes;
    parts.push_back(std::move(*part.value()));
  }
  Agreement agreement(unfinished);
  for (const NodePart& part : parts) {
    if (Status agrees = agreement.add(part); !agrees.ok()) return agrees;
  }
  return std::optional(std::move(parts));
}

Status remove_parts(FileSystem& files, const std::string& unfinished, uint32_t nodes) {
  Status status;
  for (uint32_t node = 0; node < nodes; ++node) {
    Status removed = files.remove(part_path(unfinished, node));
    if (removed.ok() || removed.fault().system_errno == ENOENT) continue;
    if (status.ok()) status = std::move(removed);
  }
  return status;
}

JointFile::JointFile(const std::vector<NodePart>& parts, std::string path)
    : path_(std::move(path)), iteration_(parts.front().iteration) {
  describe(parts);
  uint64_t end = kRawBegin;
  for (const NodePart& part : parts) end = std::max(end, part.arrays_end);
  plan_ = std::make_unique<IterationPlan>(config_, path_, end);
  for (const NodePart& part : parts) add(part);
}

// Makes the configuration of a program that has these arrays.
void JointFile::describe(const std::vector<NodePart>& parts) {
  std::map<std::string, const NodePart::Array*> arrays;
  for (const NodePart& part : parts) {
    for (const NodePart::Array& array : part.arrays) arrays.try_emplace(array.name, &array);
  }
  const NodePart& first = parts.front();
  config_.name = path_;
  config_.storage.file_per = FilePer::job;
  config_.place.nodes = static_cast<int>(first.nodes);
  config_.format.kind = FormatKind::plain;
  config_.time.unit.factor = first.time_unit;
  config_.time.dt = first.time_step;
  config_.iteration_attributes = first.configured;
  for (const auto& [name, array] : arrays) {
    Layout layout;
    layout.name = name;
    layout.type = array->type;
    layout.shape = layout.global_shape = array->shape;
    layout.offset.assign(array->shape.size(), 0);
    Variable variable;
    variable.name = variable.dataset = name;
    variable.layout = static_cast<uint32_t>(config_.layouts.size());
    variable.attributes = array->configured;
    variable.fill_value = array->fill_value;
    variables_[name] = array->variable;
    config_.layouts.push_back(std::move(layout));
    config_.variables.push_back(std::move(variable));
  }
}

// If clients of several nodes have set an attribute, the value of the first node counts.
void JointFile::add(const NodePart& part) {
  for (const NodePart::Array& array : part.arrays) add_blocks(part, array);
  for (const NodePart::Set& set : part.attributes) {
    (void)plan_->note_attribute(set.dataset, set.client, set.attribute);
  }
  for (const std::string& event : part.events) {
    const std::vector<std::string>& known = plan_->events();
    if (std::find(known.begin(), known.end(), event) == known.end()) plan_->note_event(event);
  }
  for (const auto& [name, value] : part.findings) (void)plan_->note_finding("", name, value);
  std::vector<int> missing(plan_->missing().begin(), plan_->missing().end());
  missing.insert(missing.end(), part.missing.begin(), part.missing.end());
  std::sort(missing.begin(), missing.end());
  plan_->note_missing(missing, plan_->missing_unnamed() + part.missing_unnamed);
}

void JointFile::add_blocks(const NodePart& part, const NodePart::Array& array) {
  const auto index = static_cast<uint32_t>(config_.find_variable(array.name));
  const Layout& whole = config_.layout_of(config_.variables[index]);
  const size_t rank = whole.shape.size();
  std::vector<std::vector<uint64_t>> blocks = array.blocks;
  if (blocks.empty()) blocks.emplace_back(2 * rank, 0);  // only blocks without elements came
  for (const std::vector<uint64_t>& block : blocks) {
    auto layout = std::make_shared<Layout>(whole);
    layout->offset.assign(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(rank));
    layout->shape.assign(block.begin() + static_cast<std::ptrdiff_t>(rank), block.end());
    plan_->note_block({index, iteration_, static_cast<int>(part.node), std::move(layout)}, array.begin);
  }
}

Result<FileEnding> JointFile::ending() const {
  const Result<IterationImage> image = make_image(config_, {}, iteration_, *plan_, path_);
  if (!image.ok()) return image.status();
  FileEnding ending = image.value().ending(plan_->reached());
  ending.fill_holes(config_, *plan_);
  return ending;
}

}  // namespace tailrace::impl
