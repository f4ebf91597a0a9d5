#include "hdf5_vol/data/known_filters.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "hdf5_vol/filters/chunk_codecs.hpp"
#include "hdf5_vol/policy/carry_policy.hpp"

namespace tailrace::hdf5 {
namespace {

struct Known {
  H5Z_filter_t number;
  ChunkFilter filter;   // with the values that hold if none are given
  size_t least_values;  // given
  bool may_fail;
};

// Numbers of those that are not HDF5's own are registered with The HDF Group.
constexpr Known kKnown[] = {
    {H5Z_FILTER_SHUFFLE, {ChunkFilter::Kind::shuffle, {}}, 1, false},
    {H5Z_FILTER_FLETCHER32, {ChunkFilter::Kind::fletcher32, {}}, 0, false},
    {H5Z_FILTER_DEFLATE, {ChunkFilter::Kind::deflate, {}}, 1, true},
    {H5Z_FILTER_SZIP, {ChunkFilter::Kind::szip, {}}, 4, true},
    {32000, {ChunkFilter::Kind::lzf, {}}, 0, true},
    {32001, {ChunkFilter::Kind::blosc, {0, 0, 0, 0, 5, 1, 0}}, 4, true},
    {32015, {ChunkFilter::Kind::zstd, {3}}, 0, false},
};

// Returns the filter if it can be applied here, behind a compressor or without. A filter that HDF5 cannot apply
// itself HDF5 leaves out, or the dataset cannot be made.
std::optional<ChunkFilter> known_filter(const Host& host, hid_t dcpl, unsigned index, bool is_compressed) {
  unsigned flags = 0;
  unsigned config = 0;
  std::array<unsigned, ChunkFilter::kMostValues> values{};
  size_t count = values.size();
  const H5Z_filter_t number = host.H5Pget_filter2(dcpl, index, &flags, &count, values.data(), 0, nullptr, &config);
  const Known* const known =
      std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& each) { return each.number == number; });
  if (known == std::end(kKnown)) return std::nullopt;
  ChunkFilter filter = known->filter;
  std::copy_n(values.begin(), std::min(count, values.size()), filter.values.begin());
  const FilterFacts facts{
      .is_known = can_compress(filter),
      .is_available = host.H5Zfilter_avail(number) > 0 && (config & H5Z_FILTER_CONFIG_ENCODE_ENABLED) != 0,
      .has_values = count >= known->least_values,
      .may_fail = known->may_fail,
      .is_optional = (flags & H5Z_FLAG_OPTIONAL) != 0,
      .is_second_compressor = is_compressed && is_compressor(filter.kind)};
  return why_not(facts) == Reason::none ? std::optional(filter) : std::nullopt;
}

}  // namespace

std::vector<ChunkFilter> known_filters(const Host& host, hid_t dcpl) {
  std::vector<ChunkFilter> filters;
  bool compresses = false;
  for (int i = 0, count = host.H5Pget_nfilters(dcpl); i < count; ++i) {
    const std::optional<ChunkFilter> filter = known_filter(host, dcpl, static_cast<unsigned>(i), compresses);
    if (!filter) return {};
    compresses |= is_compressor(filter->kind);
    filters.push_back(*filter);
  }
  return filters;
}

}  // namespace tailrace::hdf5
