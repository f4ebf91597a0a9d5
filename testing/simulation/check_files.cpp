#include "testing/simulation/check_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "format/file_name.hpp"
#include "testing/hdf5_file.hpp"
#include "testing/simulation/check_arrays.hpp"
#include "testing/simulation/session_plan.hpp"

namespace tailrace::impl::simulation {
namespace {

// Compares the file with its allowed contents. Ends the process, with `why`, if none of them matches.
class FileCheck {
 public:
  FileCheck(const SimDisk& disk, const Fate& fate, int64_t iteration, Story& story)
      : fate_(fate), iteration_(iteration), story_(story) {
    for (const std::string& path : paths_of(*fate.config, fate.client, iteration)) {
      if (disk.find(path) == nullptr) continue;
      if (there()) fail("published", "lies on two devices");
      path_ = path;
    }
    if (!there()) return;
    file_ = Hdf5File::open(disk.find(path_)->bytes);
    if (file_ == nullptr) fail("published", "is not a whole HDF5 file");
    if (!fate.config->storage.has_file_each() && !file_->has(iteration)) path_.clear();
    check_xdmf(disk);
  }

  bool there() const { return !path_.empty(); }

  // Returns "" if it has exactly these contents, else the difference.
  std::string difference(const FileModel& model) const {
    if (file_->variables(iteration_).size() != model.blocks.size()) return "holds another number of variables";
    for (const auto& [variable, content] : model.blocks) {
      const std::string& name = fate_.config->variables[variable].name;
      const auto bytes = file_->read(iteration_, name);
      if (!bytes) return fmt::format("lacks '{}'", name);
      const uint64_t size = model.sizes.at(variable);
      if (bytes->size() != size) return fmt::format("has {} bytes of '{}', not {}", bytes->size(), name, size);
      const auto at = first_difference(bytes->data(), bytes->size(), content);
      if (at) return fmt::format("has a wrong byte {} of {} in '{}'", *at, bytes->size(), name);
      const std::string array =
          difference_of_array(*file_, iteration_, *fate_.config, variable, as_of(variable), size);
      if (!array.empty()) return array;
    }
    const bool plain = fate_.config->format.kind == FormatKind::plain;
    const std::string group = plain ? "/" : "/data/" + std::to_string(iteration_);
    if (file_->texts(group, "tailraceSignals") != model.events) return "holds other signals";
    // A time has an effect if there is a block.
    const double time = model.blocks.empty() ? static_cast<double>(iteration_) : time_of(iteration_);
    if (file_->number(group, "time") != time) return "has another time";
    return attributes_in(*file_, group, fate_.client) == model.attributes ? "" : "holds other attributes";
  }

  [[noreturn]] void fail(const char* checker, const std::string& what) const {
    story_.fail(checker, fmt::format("client {}, iteration {}, '{}': {}", fate_.client, iteration_, path_, what));
  }

 private:
  StoredAs as_of(uint32_t number) const {
    const Variable& variable = fate_.config->variables[number];
    return stored_as(variable, fate_.config->layout_of(variable), FilePer::process, fate_.client);
  }

  // An XDMF file that has its name is whole, and refers to the file beside it.
  void check_xdmf(const SimDisk& disk) const {
    const auto found = disk.find(xdmf_name_of(path_));
    if (found == nullptr) return;
    const std::string text(reinterpret_cast<const char*>(found->bytes.data()), found->bytes.size());
    if (!text.ends_with("</Xdmf>\n")) fail("published", "has an XDMF file that is incomplete");
    const bool refers = text.find(path_.substr(path_.rfind('/') + 1) + ":/") != std::string::npos;
    if (text.find("Format=\"HDF\"") != std::string::npos && !refers) fail("published", "has another's XDMF file");
  }

  const Fate& fate_;
  const int64_t iteration_;
  Story& story_;
  std::string path_;
  std::unique_ptr<Hdf5File> file_;
};

// The allowed contents of an iteration's file: the file of an earlier run, that of this one, or nothing.
struct Allowed {
  bool nothing = false;
  bool before = false;
  bool now = false;
  bool leftover = false;
};

Allowed allowed(const Fate& fate, const IterationModel& iteration, bool recovered) {
  Allowed may;
  (iteration.before ? may.before : may.nothing) = true;
  may.leftover = recovered && iteration.leftover;
  if (!iteration.ended_with_content()) return may;
  if (iteration.failed) {
    // The name of a published file need not be durable, and recovery publishes a file that only lacks its rename. If
    // a server died after the rename, it may have published a file without blocks, which the next server does not
    // know.
    const bool only_events = iteration.now.blocks.empty();
    // The XDMF file gets its name last, and that may fail.
    const bool xdmf_failed = fate.config->format.xdmf != XdmfIterations::none;
    // The record that adds an iteration to a file of several is written in place: where that write fails, it may have
    // been written all the same.
    const bool in_place = !fate.config->storage.has_file_each();
    may.now = recovered || !fate.closed || only_events || xdmf_failed || in_place ||
              fate.config->storage.durability == Durability::durable;
    return may;
  }
  may.now = true;
  const bool drained = fate.drained && iteration.ended;
  const bool promised = fate.closed || iteration.acknowledged || (drained && !fate.power_cut);
  if (promised && (!fate.power_cut || fate.config->storage.durability == Durability::durable)) {
    may.nothing = may.before = may.leftover = false;
  }
  return may;
}

// Returns the model that the file matches, or nothing if there is no file.
std::optional<FileModel> check_iteration(const SimDisk& disk, const Fate& fate, int64_t number,
                                         const IterationModel& iteration, bool recovered, Story& story) {
  const FileCheck file(disk, fate, number, story);
  const Allowed may = allowed(fate, iteration, recovered);
  if (!file.there()) {
    if (may.nothing) return std::nullopt;
    file.fail(iteration.failed ? "published" : "lost", "was promised, and is not there, and nobody was told");
  }
  const std::string from_now = may.now ? file.difference(iteration.now) : "is there, though it must not be";
  if (may.now && from_now.empty()) return iteration.now;
  if (may.leftover && file.difference(*iteration.leftover).empty()) return iteration.leftover;
  if (may.before) {
    const std::string from_before = file.difference(*iteration.before);
    if (from_before.empty()) return iteration.before;
    if (!may.now) file.fail("published", "of an earlier run: " + from_before);
  }
  file.fail("published", from_now);
}

bool after_power_cut_unknown(const Fate& fate) {
  return fate.power_cut && fate.config->storage.durability != Durability::durable;
}

// Returns true if the iteration's file may have a .part because of other iterations in it.
bool others_may_have_part(const Fate& fate, const ClientModel& model) {
  if (fate.config->storage.has_file_each()) return false;
  return std::any_of(model.iterations.begin(), model.iterations.end(), [](const auto& of) {
    const IterationModel& iteration = of.second;
    return iteration.failed || iteration.had_part || !(iteration.ended || iteration.dropped);
  });
}

bool has_part(const SimDisk& disk, const Fate& fate, int64_t iteration) {
  const std::vector<std::string> paths = paths_of(*fate.config, fate.client, iteration);
  return std::any_of(paths.begin(), paths.end(),
                     [&](const std::string& path) { return disk.find(path + ".part") != nullptr; });
}

// Dropped iterations are in a separate list.
void check_dropped(const SimDisk& disk, const Fate& fate, const ClientModel& model, Story& story) {
  const Config& config = *fate.config;
  const std::string owner = owner_of_files(config, fate.client);
  const auto journal = disk.find(fmt::format("{}/{}_{}.dropped", config.storage.paths[0], config.name, owner));
  std::string text;
  if (journal) text.assign(reinterpret_cast<const char*>(journal->bytes.data()), journal->bytes.size());
  for (const auto& [number, iteration] : model.iterations) {
    if (!iteration.dropped || iteration.failed) continue;
    if (text.find(fmt::format("iteration {}: dropped", number)) == std::string::npos) {
      story.fail("lost", fmt::format("dropped iteration {} does not stand in the list of them", number));
    }
  }
}

// The next run begins with what is there now.
void take_over(const SimDisk& disk, const Fate& fate, int64_t number, IterationModel& iteration, bool recovered,
               Story& story) {
  IterationModel next;
  next.unknown = iteration.unknown || after_power_cut_unknown(fate);
  if (!next.unknown) {
    next.before = check_iteration(disk, fate, number, iteration, recovered, story);
    next.leftover = iteration.ended_with_content() ? iteration.now : iteration.leftover;
  }
  iteration = next;
}

}  // namespace

std::vector<std::string> paths_of(const Config& config, int client, int64_t iteration) {
  std::vector<std::string> paths;
  for (const std::string& device : config.storage.paths) {
    paths.push_back(device + "/" + file_name_of(config, client, iteration));
  }
  return paths;
}

void check_phase(const SimDisk& disk, const Fate& fate, const ClientModel& model, Story& story) {
  if (after_power_cut_unknown(fate)) return;
  for (const auto& [number, iteration] : model.iterations) {
    if (iteration.unknown) continue;
    check_iteration(disk, fate, number, iteration, false, story);
    const bool over_all = fate.closed || (fate.drained && iteration.ended);
    if (!over_all || fate.power_cut || iteration.failed || iteration.had_part) continue;
    if (!has_part(disk, fate, number) || others_may_have_part(fate, model)) continue;
    const bool over = iteration.ended || iteration.dropped;
    story.check(!over, "left over", "a .part of an iteration that is over, and nobody was told");
  }
  if (fate.closed && !fate.power_cut) check_dropped(disk, fate, model, story);
  for (const auto& [number, iteration] : model.iterations) {
    if (!fate.closed || iteration.failed || iteration.dropped || !iteration.block_was_missing) continue;
    story.fail("read", fmt::format("a read did not find a block of iteration {} that was accepted", number));
  }
}

void check_recovered(const SimDisk& disk, const Fate& fate, ClientModel& model, Story& story) {
  for (auto& [number, iteration] : model.iterations) {
    if (has_part(disk, fate, number)) story.fail("recovery", fmt::format("left the .part of iteration {}", number));
    take_over(disk, fate, number, iteration, true, story);
    iteration.leftover.reset();
  }
}

void keep_leftovers(const SimDisk& disk, const Fate& fate, ClientModel& model, Story& story) {
  for (auto& [number, iteration] : model.iterations) {
    take_over(disk, fate, number, iteration, false, story);
    iteration.had_part = has_part(disk, fate, number);
    if (!iteration.had_part) iteration.leftover.reset();
  }
}

}  // namespace tailrace::impl::simulation
