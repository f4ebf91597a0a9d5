#include "format/image/dataset_stamps.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/assert.hpp"
#include "format/metadata/object_header.hpp"

namespace tailrace::impl {
namespace {

// Bytes that a group can reserve for a link: a message of 65 535, and more than what it has beside the name.
constexpr size_t kMostRoom = 65000;

// Makes groups with room for `bytes` in their headers, where a link with a long name would be.
Handle properties_with_room(size_t bytes) {
  Handle creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  const bool ok = creation.valid() && H5Pset_obj_track_times(creation.id(), false) >= 0 &&
                  H5Pset_link_phase_change(creation.id(), 1, 0) >= 0 &&
                  H5Pset_est_link_info(creation.id(), 1, static_cast<unsigned>(bytes)) >= 0;
  if (!ok) creation.reset();
  return creation;
}

}  // namespace

struct DatasetStamps::Kind {
  enum class State : uint8_t { one, stamp, no_stamp };

  const NamedDataset& first;
  const uint64_t address;  // of its header
  State state = State::one;
  // With a stamp:
  std::vector<std::byte> header = {};
  size_t raw_at = 0;      // where the place of the raw data is in the header
  Handle with_room = {};  // properties of groups
};

DatasetStamps::DatasetStamps(const Config& config, const IterationPlan& plan, FileImage& image)
    : config_(config), plan_(plan), image_(image), kinds_(config.layouts.size()) {}

DatasetStamps::~DatasetStamps() = default;

void DatasetStamps::note(const NamedDataset& dataset, uint64_t address) {
  auto& kinds = kinds_[config_.variables[dataset.second.variable].layout];
  if (kinds.size() < kMostKinds) kinds.push_back(std::make_unique<Kind>(dataset, address));
}

const DatasetStamps::Kind* DatasetStamps::find(hid_t in, const NamedDataset& dataset) {
  const auto& kinds = kinds_[config_.variables[dataset.second.variable].layout];
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) {
    return have_same_header(config_, plan_, kind->first, dataset);
  });
  if (found == kinds.end()) return nullptr;
  Kind& kind = **found;
  if (kind.state == Kind::State::one) kind.state = cut(in, kind) ? Kind::State::stamp : Kind::State::no_stamp;
  return kind.state == Kind::State::stamp ? &kind : nullptr;
}

// Makes the stamp of a kind from the header that HDF5 has made. Returns false if that is not as expected.
bool DatasetStamps::cut(hid_t in, Kind& kind) {
  H5O_token_t token{};
  if (H5VLnative_addr_to_token(in, kind.address, &token) < 0) return false;
  Handle first(H5Oopen_by_token(in, token), H5Oclose);
  if (!first.valid() || H5Oflush(first.id()) < 0 || !first.reset()) return false;
  const std::optional<ObjectHeader> header = header_at(kind.address);
  auto bytes = header ? header->in_one_chunk() : std::nullopt;
  if (!bytes || bytes->size() > kMostRoom) return false;
  kind.header = std::move(*bytes);
  const auto read = [&](uint64_t offset, std::span<std::byte> to) {
    if (offset > kind.header.size() || kind.header.size() - offset < to.size()) return false;
    std::copy_n(kind.header.begin() + static_cast<ptrdiff_t>(offset), to.size(), to.begin());
    return true;
  };
  const std::optional<ObjectHeader> whole = ObjectHeader::read(0, read);
  const std::optional<HeaderField> raw = whole ? whole->raw_address() : std::nullopt;
  if (!raw) return false;
  kind.raw_at = raw->value.offset;
  kind.with_room = properties_with_room(kind.header.size());
  return kind.with_room.valid();
}

std::optional<ObjectHeader> DatasetStamps::header_at(uint64_t address) const {
  return ObjectHeader::read(address, [this](uint64_t offset, std::span<std::byte> to) {
    image_.read(offset, to.data(), to.size());
    return true;
  });
}

bool DatasetStamps::make(const Kind& kind, hid_t parent, const char* name, const NamedDataset& dataset,
                         uint64_t& address) {
  Handle group(H5Gcreate2(parent, name, H5P_DEFAULT, kind.with_room.id(), H5P_DEFAULT), H5Gclose);
  if (!group.valid() || !note_address(group.id(), address) || !group.reset()) return false;
  made_.push_back({&kind, address, dataset.second.stored.extent.offset});
  return true;
}

void DatasetStamps::stamp() {
  for (const Made& one : made_) {
    const std::optional<ObjectHeader> group = header_at(one.address);
    TAILRACE_ASSERT(group.has_value());
    const uint64_t room = group->chunks()[0].length;
    std::vector<std::byte> header = one.kind->header;
    TAILRACE_ASSERT(header.size() <= room);
    const bool has_raw = one.kind->first.second.stored.extent.length > 0;
    if (has_raw) put_number(one.raw, std::span(header).subspan(one.kind->raw_at).first<sizeof one.raw>());
    seal_chunk(header);
    header.resize(room);
    image_.write(one.address, header.data(), header.size());
  }
}

}  // namespace tailrace::impl
