#include "hdf5_vol/policy/carry_policy.hpp"

namespace tailrace::hdf5 {
namespace {

constexpr uint64_t kFew = 8;  // most writes, and most bytes in units of the smallest carried dataset

Answer left(Reason why) { return {Way::hdf5, why}; }

Answer way_of_contiguous(const DatasetFacts& dataset) {
  const bool is_small = dataset.bytes < dataset.smallest;
  if (is_small && (dataset.is_parallel || !dataset.small_too)) return left(Reason::small);
  if (dataset.bytes == 0) return left(Reason::empty);
  // All processes look at the same time, and never again.
  if (!dataset.has_place && (dataset.is_parallel || is_small)) return left(Reason::no_place);
  if (!dataset.has_place && !dataset.has_fill) return left(Reason::odd_fill);
  // Each process of several will see whether it can carry.
  if (!dataset.is_parallel && dataset.is_refused) return left(Reason::refused);
  return {dataset.has_place ? Way::extents : Way::placed_first, Reason::none};
}

Answer way_of_chunks(const DatasetFacts& dataset) {
  if (dataset.is_parallel) return left(Reason::parallel_chunks);
  if (dataset.has_chunk_options) return left(Reason::chunk_options);
  if (dataset.chunk_bytes < smallest_chunk(dataset.smallest)) return left(Reason::small_chunks);
  if (dataset.has_large_chunks) return left(Reason::large_chunks);
  const bool goes_past = !dataset.has_filters && dataset.is_early && dataset.reports_places;
  if (goes_past && dataset.is_cached) return left(Reason::cached);
  if (goes_past && dataset.has_userblock) return left(Reason::userblock);
  if (goes_past && dataset.is_refused) return left(Reason::refused);
  if (!goes_past && !(dataset.has_filters && dataset.knows_filters)) return left(Reason::unknown_filters);
  if (!dataset.has_fill) return left(Reason::odd_fill);
  return {goes_past ? Way::plain_chunks : Way::filtered_chunks, Reason::none};
}

}  // namespace

Reason why_not(const FileFacts& file) {
  if (file.is_watched) return Reason::watched;
  if (!file.has_plain_driver) return Reason::other_driver;
  if (file.is_parallel && file.names_system) return Reason::kind_of_system;
  if (file.is_parallel && file.metadata_together) return Reason::metadata_together;
  if (file.has_page_buffer) return Reason::page_buffer;
  if (!file.is_written) return Reason::only_read;
  if (file.is_open_with_sieve) return Reason::opened_otherwise;
  // A process still has to do itself what it cannot carry of a file of several.
  if (!file.has_path && !file.is_parallel) return Reason::no_path;
  return Reason::none;
}

Answer way_of(const DatasetFacts& dataset) {
  if (!dataset.is_flat) return left(Reason::not_flat);
  if (!dataset.is_of_carried_file) return left(Reason::other_file);
  switch (dataset.layout) {
    case Layout::contiguous: return way_of_contiguous(dataset);
    case Layout::chunked: return way_of_chunks(dataset);
    case Layout::external: return left(Reason::external);
    case Layout::other: break;
  }
  return left(Reason::other_layout);
}

// A dataset in chunks may grow, and a virtual one may be small and show large ones.
bool stays_small(const NewDatasetFacts& dataset) {
  const bool is_tiny =
      dataset.bytes < smallest_chunk(dataset.smallest) && !dataset.grows && !dataset.is_among_parallel;
  if (is_tiny && !dataset.is_virtual) return true;
  return dataset.bytes < dataset.smallest && dataset.is_one_piece;
}

Reason why_not(const FilterFacts& filter) {
  if (!filter.is_known) return Reason::unknown_filter;
  if (!filter.is_available) return Reason::unavailable_filter;
  if (!filter.has_values) return Reason::filter_values;
  if (filter.may_fail && !filter.is_optional) return Reason::must_not_fail;
  if (filter.is_second_compressor) return Reason::second_compressor;
  return Reason::none;
}

Reason why_not(const TransferFacts& transfer) {
  if (!transfer.has_data) return Reason::no_data;
  if (transfer.is_transformed) return Reason::transformed;
  if (!transfer.has_selection) return Reason::odd_selection;
  if (transfer.converts && !transfer.has_numbers) return Reason::odd_conversion;
  return Reason::none;
}

// (Of a small dataset that is carried there have been many, before.)
bool counts(const WriteFacts& write) {
  return write.transfer == Reason::none && !write.is_asynchronous && !write.is_parallel && !write.is_detached &&
         !write.is_pending && write.dataset_bytes >= write.smallest;
}

Decision turn_of(const WriteFacts& write) {
  if (write.is_shown) return {Turn::hdf5, Reason::shown};
  if (write.transfer != Reason::none) return {Turn::hdf5_when_written, write.transfer};
  const bool is_little = write.writes <= kFew && write.bytes < kFew * write.smallest;
  if (counts(write) && is_little) return {Turn::hdf5, Reason::little};
  if (write.is_refused) return {Turn::hdf5_when_written, Reason::refused};
  return {Turn::carried, Reason::none};
}

Decision turn_of(const ReadFacts& read) {
  if (read.is_shown) return {Turn::hdf5, Reason::shown};
  if (!read.is_pending && (read.is_parallel || read.has_own_list || !read.is_held)) {
    return {Turn::hdf5, Reason::in_file};
  }
  if (read.transfer != Reason::none) return {Turn::hdf5_when_written, read.transfer};
  if (!read.is_held && !read.are_bytes_pending) return {Turn::hdf5, Reason::in_file};
  return {Turn::carried, Reason::none};
}

Reason why_not(const ChunkWriteFacts& write) {
  if (write.transfer != Reason::none) return write.transfer;
  if (!write.has_usual_list) return Reason::own_list;
  if (!write.is_one_run) return Reason::scattered;
  if (!write.is_block) return Reason::not_a_block;
  if (write.is_left_alone) return Reason::left_alone;
  if (write.filters_fail) return Reason::filters_fail;
  if (write.goes_past) {
    if (write.is_shown) return Reason::shown;
    return write.has_place ? Reason::none : Reason::no_chunk_place;
  }
  if (!write.has_whole_chunks) return Reason::part_of_chunk;
  return write.may_be_left_out ? Reason::left_out : Reason::none;
}

}  // namespace tailrace::hdf5
