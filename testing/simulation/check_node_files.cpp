#include "testing/simulation/check_node_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "format/file_name.hpp"
#include "format/plan/stored_as.hpp"
#include "testing/hdf5_file.hpp"
#include "testing/simulation/array_plan.hpp"
#include "testing/simulation/check_arrays.hpp"
#include "testing/simulation/session_plan.hpp"

namespace tailrace::impl::simulation {
namespace {

// One client's part of a published file.
class NodeFilePart {
 public:
  NodeFilePart(const Hdf5File& file, const Fate& fate, int64_t iteration)
      : file_(file), config_(*fate.config), client_(fate.client), iteration_(iteration) {}

  // Returns "" if it has exactly these contents, else the difference.
  std::string difference(const FileModel& model) const {
    for (uint32_t variable = 0; variable < config_.variables.size(); ++variable) {
      const auto block = model.blocks.find(variable);
      const std::string what = block == model.blocks.end()
                                   ? difference(variable, 0, std::nullopt)
                                   : difference(variable, model.sizes.at(variable), block->second);
      if (!what.empty()) return what;
    }
    std::vector<std::string> events = file_.texts(group(), "tailraceSignals");
    std::erase_if(events, [&](const std::string& event) { return !is_event_of(client_, event); });
    if (events != model.events) return "holds other signals";
    // A client that had begun it may have died before it said the time.
    const std::optional<double> time = file_.number(group(), "time");
    if (time != time_of(iteration_) && time != static_cast<double>(iteration_)) return "has another time";
    return attributes_in(file_, group(), client_) == model.attributes ? "" : "holds other attributes";
  }

  bool is_missing() const {
    const std::vector<uint64_t> missing = file_.numbers(group(), "tailraceMissingClients");
    return std::find(missing.begin(), missing.end(), static_cast<uint64_t>(client_)) != missing.end();
  }

 private:
  // Returns the name of a dataset: the array's, or that of a record or species of this client.
  std::string name_of(const Variable& variable, bool shared) const {
    const size_t end = variable.name.find('/');
    const std::string component = end == std::string::npos ? "" : variable.name.substr(end);
    return shared ? variable.name : fmt::format("{}_c{}{}", variable.name.substr(0, end), client_, component);
  }

  std::string group() const { return "/data/" + std::to_string(iteration_); }

  std::string difference(uint32_t number, uint64_t size, std::optional<Content> content) const {
    const Variable& variable = config_.variables[number];
    const Layout& layout = config_.layout_of(variable);
    const StoredAs as = stored_as(variable, layout, FilePer::node, client_);
    if (as.name != name_of(variable, as.shared)) return fmt::format("has '{}' of client {}", as.name, client_);
    const auto bytes = file_.read(iteration_, as.name);
    const uint64_t length = !bytes ? 0 : as.shared ? listed(number, as.name, layout) : bytes->size();
    const bool there = length > 0;
    if (there != content.has_value()) {
      return fmt::format("{} '{}' of client {}", there ? "has" : "lacks", as.name, client_);
    }
    if (!there) return "";
    if (length != size) {
      return fmt::format("has {} bytes of '{}' of client {}, not {}", length, as.name, client_, size);
    }
    // A part is one run of bytes: the arrays of the clients follow each other along the first axis.
    const uint64_t first = as.shared ? bytes_of_length(layout, layout.offset[0]) : 0;
    if (first + size > bytes->size()) return fmt::format("'{}' is too short", as.name);
    const auto at = first_difference(bytes->data() + first, size, *content);
    if (at) return fmt::format("has a wrong byte {} of {} in '{}' of client {}", *at, size, as.name, client_);
    return difference_of_array(file_, iteration_, config_, number, as, size);
  }

  // Returns how many bytes of the client's part the dataset lists.
  uint64_t listed(uint32_t number, const std::string& name, const Layout& layout) const {
    const char* const root = config_.variables[number].record.of_particles ? "particles" : "meshes";
    const auto all = file_.numbers(fmt::format("{}/{}/{}", group(), root, name), "tailraceBlocks");
    const size_t rank = layout.shape.size();
    for (size_t at = 0; at + 2 * rank <= all.size(); at += 2 * rank) {
      if (all[at] == layout.offset[0]) return bytes_of_length(layout, all[at + rank]);
    }
    return 0;
  }

  const Hdf5File& file_;
  const Config& config_;
  const int client_;
  const int64_t iteration_;
};

// The contents of a published file: for each client the model that its part matches.
using Parts = std::vector<FileModel>;

class NodeIteration {
 public:
  NodeIteration(const SimDisk& disk, const Faults& faults, const std::vector<Fate>& fates,
                const std::vector<ClientModel>& models, int64_t number, bool recovered, Story& story)
      : fates_(fates), number_(number), recovered_(recovered), story_(story) {
    for (const ClientModel& model : models) iterations_.push_back(&model.iteration(number));
    may_be_dropped_ = may_be_dropped(models, number);
    for (const std::string& path : paths_of(*fates[0].config, 0, number)) {
      part_ = part_ || disk.find(path + ".part") != nullptr;
      if (disk.find(path) == nullptr) continue;
      if (!path_.empty()) fail("published", "lies on two devices");
      path_ = path;
    }
    const std::string name = file_name_of(*fates[0].config, 0, number);
    for (const Cause& cause : faults.causes) {
      has_cause_ = has_cause_ || cause.is_of_all_iterations() || cause.path.find(name) != std::string::npos;
    }
    if (!path_.empty()) inode_ = disk.find(path_);
    if (!path_.empty() && !fates[0].config->storage.has_file_each()) leave_file_of_others();
  }

  // Returns the models that the file matches, or nothing if there is no file. Ends the process if that is not
  // allowed.
  std::optional<Parts> check() {
    if (inode_ == nullptr) {
      if (must_be_now()) fail("lost", "was promised, and is not there, and nobody was told");
      // An earlier run's file stays until another replaces it.
      if (any(&IterationModel::before)) fail("lost", "of an earlier run, is not there");
      return std::nullopt;
    }
    file_ = Hdf5File::open(inode_->bytes);
    if (file_ == nullptr) fail("published", "is not a whole HDF5 file");
    std::string why = "is there, though it must not be";
    if (may_be_now()) {
      if (auto parts = equal_to(&IterationModel::now, &IterationModel::next, &IterationModel::absent, why)) {
        check_missing();
        return parts;
      }
    }
    if (must_be_now()) fail("published", why);
    std::string ignored;
    if (recovered_ && any(&IterationModel::leftover)) {
      auto parts = equal_to(&IterationModel::leftover, &IterationModel::leftover_next,
                            &IterationModel::leftover_absent, ignored);
      if (parts) return parts;
    }
    if (any(&IterationModel::before)) {
      auto parts = equal_to(&IterationModel::before, nullptr, nullptr, may_be_now() ? ignored : why);
      if (parts) return parts;
    }
    fail("published", why);
  }

  void check_leftovers() const {
    if (must_be_written() && path_.empty() && !part_) fail("lost", "is neither published nor kept");
    if (part_ && must_be_now() && !of_any(&IterationModel::had_part)) {
      fail("left over", "has a .part, though it is over, and nobody was told");
    }
  }
  bool has_part() const { return part_; }
  bool lost() const { return of_any(&IterationModel::failed) || may_be_dropped_; }
  bool ended() const { return of_any(&IterationModel::ending); }

  [[noreturn]] void fail(const char* checker, const std::string& what) const {
    story_.fail(checker, fmt::format("iteration {} of the node, '{}': {}", number_, path_, what));
  }

 private:
  // The file of several iterations need not have this one, and its .part may be that of another.
  void leave_file_of_others() {
    const std::unique_ptr<Hdf5File> file = Hdf5File::open(inode_->bytes);
    if (file == nullptr) fail("published", "is not a whole HDF5 file");
    if (file->has(number_)) return;
    path_.clear();
    inode_.reset();
  }

  using Flag = bool IterationModel::*;
  using Model = std::optional<FileModel> IterationModel::*;

  bool of_any(Flag flag) const {
    return std::any_of(iterations_.begin(), iterations_.end(), [&](const auto* of) { return of->*flag; });
  }
  bool any(Model model) const {
    return std::any_of(iterations_.begin(), iterations_.end(),
                       [&](const auto* of) { return (of->*model).has_value(); });
  }
  bool begun() const {
    return std::any_of(iterations_.begin(), iterations_.end(),
                       [](const IterationModel* of) { return !of->now.empty() || (of->next && !of->next->empty()); });
  }
  bool all_closed() const {
    return std::all_of(fates_.begin(), fates_.end(), [](const Fate& fate) { return fate.closed; });
  }
  bool all_ended() const {
    return std::all_of(iterations_.begin(), iterations_.end(), [](const auto* of) { return of->ended; });
  }

  // A server without a ledger does not know that a client has dropped the iteration before it was given up.
  bool may_be_now() const {
    const bool dropped = std::any_of(iterations_.begin(), iterations_.end(),
                                     [](const IterationModel* of) { return of->dropped && !of->absent; });
    if (!begun() || !ended() || dropped) return false;
    // As for a file of one client: a name that is not durable, a file that recovery publishes, one without blocks.
    const bool durable = fates_[0].config->storage.durability == Durability::durable;
    const bool only_events = std::all_of(iterations_.begin(), iterations_.end(),
                                         [](const IterationModel* of) { return of->now.blocks.empty(); });
    return !of_any(&IterationModel::failed) || recovered_ || !all_closed() || durable || only_events ||
           may_be_dropped_;
  }

  // If an absent client takes part in a file, it may stay unpublished until recovery.
  bool may_be_kept() const { return fates_[0].config->place.on_missing == OnMissing::keep && !recovered_; }
  bool must_be_now() const { return must_be_written() && !may_be_kept(); }

  // The client that ended it last is told of a failure; one that has gone before, or was not the last, is not.
  bool must_be_written() const {
    const bool written = std::any_of(iterations_.begin(), iterations_.end(),
                                     [](const IterationModel* of) { return !of->now.empty(); });
    if (fates_[0].power_cut || !written || !of_any(&IterationModel::ended) || lost()) return false;
    return !has_cause_ || (all_ended() && all_closed());
  }

  // Returns, for each client, which of the two models its part matches, or an empty one if it may be absent; nothing,
  // and `why`, if a part matches none.
  std::optional<Parts> equal_to(auto model, Model otherwise, Flag absent, std::string& why) const {
    Parts parts;
    for (size_t client = 0; client < fates_.size(); ++client) {
      const NodeFilePart part(*file_, fates_[client], number_);
      const IterationModel& of = *iterations_[client];
      const FileModel expected = model_of(of.*model);
      std::string difference = part.difference(expected);
      if (difference.empty()) {
        parts.push_back(expected);
        continue;
      }
      if (otherwise != nullptr && of.*otherwise && part.difference(*(of.*otherwise)).empty()) {
        parts.push_back(*(of.*otherwise));
      } else if (absent != nullptr && of.*absent && part.difference(FileModel()).empty()) {
        parts.emplace_back();
      } else {
        why = difference;
        return std::nullopt;
      }
    }
    return parts;
  }
  static FileModel model_of(const FileModel& model) { return model; }
  static FileModel model_of(const std::optional<FileModel>& model) { return model.value_or(FileModel()); }

  // Checks that the file names exactly the clients that went without ending it.
  void check_missing() const {
    for (size_t client = 0; client < fates_.size(); ++client) {
      const bool is_missing = NodeFilePart(*file_, fates_[client], number_).is_missing();
      const IterationModel& of = *iterations_[client];
      if (is_missing && of.ended) fail("published", fmt::format("says that client {} had not ended it", client));
      if (!is_missing && !of.ending) fail("published", fmt::format("does not say that client {} is missing", client));
    }
  }

  const std::vector<Fate>& fates_;
  const int64_t number_;
  const bool recovered_;
  Story& story_;
  std::vector<const IterationModel*> iterations_;  // by client
  bool may_be_dropped_ = false;
  bool has_cause_ = false;
  bool part_ = false;
  std::string path_;
  InodePointer inode_;
  std::unique_ptr<Hdf5File> file_;  // once it was read
};

std::set<int64_t> numbers_of(const std::vector<ClientModel>& models) {
  std::set<int64_t> numbers;
  for (const ClientModel& model : models) {
    for (const auto& [number, iteration] : model.iterations) numbers.insert(number);
  }
  return numbers;
}

bool is_unknown(const std::vector<ClientModel>& models, int64_t number) {
  return std::any_of(models.begin(), models.end(),
                     [number](const ClientModel& model) { return model.iteration(number).unknown; });
}

bool spoilt_by_power_cut(const Fate& fate) {
  return fate.power_cut && fate.config->storage.durability != Durability::durable;
}

void check_list_of_dropped(const SimDisk& disk, const std::vector<Fate>& fates,
                           const std::vector<ClientModel>& models, Story& story) {
  const Config& config = *fates[0].config;
  const auto list =
      disk.find(fmt::format("{}/{}_{}.dropped", config.storage.paths[0], config.name, owner_of_files(config, 0)));
  std::string text;
  if (list) text.assign(reinterpret_cast<const char*>(list->bytes.data()), list->bytes.size());
  for (const int64_t number : numbers_of(models)) {
    const bool dropped = std::any_of(models.begin(), models.end(),
                                     [&](const ClientModel& of) { return of.iteration(number).dropped; });
    const bool failed =
        std::any_of(models.begin(), models.end(), [&](const ClientModel& of) { return of.iteration(number).failed; });
    if (!dropped || failed) continue;
    if (text.find(fmt::format("iteration {}: dropped", number)) == std::string::npos) {
      story.fail("lost", fmt::format("dropped iteration {} does not stand in the list of them", number));
    }
  }
}

// The next run begins with what is there now.
void take_over(const SimDisk& disk, const Faults& faults, const std::vector<Fate>& fates,
               std::vector<ClientModel>& models, int64_t number, bool recovered, Story& story) {
  const bool unknown = is_unknown(models, number) || spoilt_by_power_cut(fates[0]);
  NodeIteration node(disk, faults, fates, models, number, recovered, story);
  const std::optional<Parts> parts = unknown ? std::nullopt : node.check();
  const bool ended = node.ended();
  for (size_t client = 0; client < models.size(); ++client) {
    const IterationModel of = models[client].iteration(number);
    IterationModel next;
    next.unknown = unknown;
    if (parts) next.before = (*parts)[client];
    if (!unknown && !recovered && node.has_part()) {
      next.had_part = true;
      next.leftover = ended ? of.now : of.leftover;
      next.leftover_next = ended ? of.next : of.leftover_next;
      next.leftover_absent = ended ? of.absent : of.leftover_absent;
    }
    models[client].iterations[number] = next;
  }
}

}  // namespace

void check_node_phase(const SimDisk& disk, const Faults& faults, const std::vector<Fate>& fates,
                      const std::vector<ClientModel>& models, Story& story) {
  if (spoilt_by_power_cut(fates[0])) return;
  bool all_closed = true;
  for (const Fate& fate : fates) all_closed = all_closed && fate.closed;
  for (const int64_t number : numbers_of(models)) {
    if (is_unknown(models, number)) continue;
    NodeIteration node(disk, faults, fates, models, number, false, story);
    node.check();
    node.check_leftovers();
    for (size_t client = 0; client < models.size(); ++client) {
      const bool was_missing = models[client].iteration(number).block_was_missing;
      if (was_missing && fates[client].closed && !node.lost()) node.fail("read", "a block was not found");
    }
  }
  if (all_closed && !fates[0].power_cut) check_list_of_dropped(disk, fates, models, story);
}

void check_node_recovered(const SimDisk& disk, const Faults& faults, const std::vector<Fate>& fates,
                          std::vector<ClientModel>& models, Story& story) {
  for (const int64_t number : numbers_of(models)) {
    if (NodeIteration(disk, faults, fates, models, number, true, story).has_part()) {
      story.fail("recovery", fmt::format("left the .part of iteration {}", number));
    }
    take_over(disk, faults, fates, models, number, true, story);
  }
}

void keep_node_leftovers(const SimDisk& disk, const Faults& faults, const std::vector<Fate>& fates,
                         std::vector<ClientModel>& models, Story& story) {
  for (const int64_t number : numbers_of(models)) take_over(disk, faults, fates, models, number, false, story);
}

}  // namespace tailrace::impl::simulation
