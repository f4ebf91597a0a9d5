// JointFile: completes a file that several nodes write together (storage.file_per: job, place.nodes).
//
// Each node writes its blocks where all nodes expect the arrays (format/plan/array_places.hpp). When its clients
// have ended the iteration and their bytes are in the file, it publishes its part (format/plan/node_part.hpp). The
// node whose part is the last one finds all parts: it writes the metadata, and the file gets its name. So no node
// waits for another one, and none sends a message.
//
// Two nodes that publish their parts at once may both find all of them. They write the same bytes, as these depend on
// the parts alone, and the name is given once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "format/image/iteration_image.hpp"
#include "format/plan/iteration_plan.hpp"
#include "format/plan/node_part.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl {

// Returns what the plan says of this node's part. `config` is the plan's.
NodePart part_of(const Config& config, int64_t iteration, const IterationPlan& plan);

// Reads the parts of all nodes beside the unfinished file; none if one is not there. Fails with
// TAILRACE_NOT_PUBLISHED if they do not belong together.
Result<std::optional<std::vector<NodePart>>> read_parts(FileSystem& files, const std::string& unfinished);

// Removes the parts of all nodes.
Status remove_parts(FileSystem& files, const std::string& unfinished, uint32_t nodes);

// The whole that parts make.
class JointFile {
 public:
  // `parts`: of all nodes, sorted by node. `path` is for messages.
  JointFile(const std::vector<NodePart>& parts, std::string path);

  // Returns true if no node has put anything into the file.
  bool empty() const { return plan_->datasets().empty() && plan_->events().empty(); }
  const IterationPlan& plan() const { return *plan_; }
  // Returns the variable to which a dataset belongs, in the nodes' configuration.
  uint32_t variable_of(const std::string& dataset) const { return variables_.at(dataset); }
  // Returns the bytes that complete the file. Takes LibraryLock.
  Result<FileEnding> ending() const;

 private:
  void describe(const std::vector<NodePart>& parts);
  void add(const NodePart& part);
  void add_blocks(const NodePart& part, const NodePart::Array& array);

  const std::string path_;
  const int64_t iteration_;
  Config config_;  // its variables are the arrays of all parts, by name
  std::map<std::string, uint32_t> variables_;
  std::unique_ptr<IterationPlan> plan_;
};

}  // namespace tailrace::impl
