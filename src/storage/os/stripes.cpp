#include "storage/os/stripes.hpp"

#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include <array>
#include <cstring>

namespace tailrace::impl {
namespace {

// File system types, as statfs() reports them.
constexpr uint32_t kLustre = 0x0bd00bd0;
constexpr uint32_t kBeegfs = 0x19830326;

// Lustre's layout of a file, little-endian: this head, in version 3 the name of a pool, and an entry for each stripe.
// Source: Lustre's user interface, lustre_user.h (lov_user_md_v1, lov_user_md_v3, lov_user_ost_data_v1).
struct LustreHead {
  uint32_t magic;
  uint32_t pattern;
  uint8_t object[16];
  uint32_t unit;
  uint16_t count;
  uint16_t generation;
};
static_assert(sizeof(LustreHead) == 32);
struct LustreStripe {
  uint8_t object[16];
  uint32_t generation;
  uint32_t server;
};
static_assert(sizeof(LustreStripe) == 24);

constexpr uint32_t kVersion1 = 0x0bd10bd0;
constexpr uint32_t kVersion3 = 0x0bd30bd0;
constexpr size_t kPoolName = 16;  // bytes
constexpr uint32_t kRaid0 = 1;
constexpr size_t kMostStripes = 2000;  // of Lustre: no file has more (LOV_MAX_STRIPE_COUNT of its interface)
constexpr size_t kMostValue = sizeof(LustreHead) + kPoolName + kMostStripes * sizeof(LustreStripe);

// BeeGFS's ioctls. Source: its client's public header, beegfs_ioctl.h.
struct BeegfsStripes {
  uint32_t pattern;
  uint32_t unit;
  uint16_t count;
};
struct BeegfsTarget {
  uint16_t index;  // the requested entry
  uint16_t target;
  uint16_t node;
  char node_name[256];
};
constexpr unsigned long kGetStripes = _IOR('f', 25, BeegfsStripes);
constexpr unsigned long kGetTarget = _IOR('f', 26, BeegfsTarget);

std::optional<StripeMap> beegfs_stripes(int fd) {
  BeegfsStripes stripes{};
  if (::ioctl(fd, kGetStripes, &stripes) != 0 || stripes.unit == 0 || stripes.count == 0) return std::nullopt;
  StripeMap map{stripes.unit, {}};
  for (uint16_t index = 0; index < stripes.count; ++index) {
    BeegfsTarget target{};
    target.index = index;
    if (::ioctl(fd, kGetTarget, &target) != 0) return std::nullopt;
    map.servers.push_back(target.target);
  }
  return map;
}

std::optional<StripeMap> reported_stripes(int fd) {
  struct statfs of {};
  if (::fstatfs(fd, &of) != 0) return std::nullopt;
  const auto type = static_cast<uint32_t>(of.f_type);
  if (type == kBeegfs) return beegfs_stripes(fd);
  if (type != kLustre) return std::nullopt;
  std::array<std::byte, kMostValue> value;
  const ssize_t size = ::fgetxattr(fd, "lustre.lov", value.data(), value.size());
  return size > 0 ? lustre_stripes(std::span(value).first(static_cast<size_t>(size))) : std::nullopt;
}

}  // namespace

std::optional<StripeMap> lustre_stripes(std::span<const std::byte> value) {
  LustreHead head;
  if (value.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, value.data(), sizeof head);
  const bool is_known = head.magic == kVersion1 || head.magic == kVersion3;
  const size_t begin = sizeof head + (head.magic == kVersion3 ? kPoolName : 0);
  if (!is_known || head.pattern != kRaid0 || head.unit == 0 || head.count == 0) return std::nullopt;
  if (value.size() < begin + head.count * sizeof(LustreStripe)) return std::nullopt;
  StripeMap map{head.unit, {}};
  for (size_t index = 0; index < head.count; ++index) {
    LustreStripe stripe;
    std::memcpy(&stripe, value.data() + begin + index * sizeof stripe, sizeof stripe);
    map.servers.push_back(stripe.server);
  }
  return map;
}

StripeMap stripes_of(int fd, uint32_t otherwise) {
  std::optional<StripeMap> map = reported_stripes(fd);
  if (!map) map = StripeMap{StripeMap::kWholeFile, {otherwise}};
  return *std::move(map);
}

}  // namespace tailrace::impl
