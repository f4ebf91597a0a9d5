#include "files.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace tailrace::hdf5 {
namespace {

// Never destroyed, as HDF5 ends after everything else.
struct Known {
  std::mutex mutex;  // guards `files`: two hosts may look at once
  std::map<std::pair<const Host*, unsigned long>, std::weak_ptr<File>> files;
};

Known& known() {
  static Known* const only = new Known;
  return *only;
}

}  // namespace

File::~File() {
  if (state_ == State::open) Carrier::instance().close(raw_);
}

bool File::ready() {
  if (state_ == State::unopened) {
    state_ = Carrier::instance().open(path_, &raw_) ? State::open : State::refused;
  }
  return state_ == State::open;
}

Carrier::Refusal File::write(uint64_t dataset, std::span<const tailrace_extent> extents, const void* data) {
  pending_.insert(dataset);
  return Carrier::instance().write(raw_, extents, data);
}

Carrier::Refusal File::read(std::span<const tailrace_extent> extents, void* data) {
  return Carrier::instance().read(raw_, extents, data);
}

void File::drain() {
  if (pending_.empty()) return;
  Carrier::instance().flush();
  pending_.clear();
}

void File::leave_alone() {
  drain();
  if (state_ == State::open) Carrier::instance().close(raw_);
  state_ = State::refused;
}

std::shared_ptr<File> file_of(const Host& host, unsigned long number) {
  const std::lock_guard lock(known().mutex);
  const auto found = known().files.find({&host, number});
  return found != known().files.end() ? found->second.lock() : nullptr;
}

std::shared_ptr<File> make_file(const Host& host, unsigned long number, const std::string& path) {
  const std::lock_guard lock(known().mutex);
  std::weak_ptr<File>& place = known().files[{&host, number}];
  std::shared_ptr<File> file = place.lock();
  if (file == nullptr) {
    file = std::make_shared<File>(path);
    place = file;
    std::erase_if(known().files, [](const auto& entry) { return entry.second.expired(); });
  }
  return file;
}

void drain_all() {
  std::vector<std::shared_ptr<File>> all;
  {
    const std::lock_guard lock(known().mutex);
    for (const auto& [key, file] : known().files) {
      if (auto open = file.lock()) all.push_back(std::move(open));
    }
  }
  for (const auto& file : all) file->drain();
}

}  // namespace tailrace::hdf5
