// CarryPolicy as tables: in each row one fact changes, and with it the answer. Each fact has a row.
#include "hdf5_vol/policy/carry_policy.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace tailrace::hdf5 {

bool operator==(const Answer& one, const Answer& other) { return one.way == other.way && one.why == other.why; }
bool operator==(const Decision& one, const Decision& other) { return one.turn == other.turn && one.why == other.why; }
void PrintTo(const Answer& answer, std::ostream* out) {
  *out << "way " << static_cast<int>(answer.way) << ", reason " << static_cast<int>(answer.why);
}
void PrintTo(const Decision& decision, std::ostream* out) {
  *out << "turn " << static_cast<int>(decision.turn) << ", reason " << static_cast<int>(decision.why);
}
void PrintTo(Reason why, std::ostream* out) { *out << "reason " << static_cast<int>(why); }

namespace {

constexpr uint64_t kSmallest = 1000;

template <typename Facts, typename Answers>
struct Row {
  const char* fact;
  Facts others;
  void (*change)(Facts& facts);
  Answers before;
  Answers after;
};

// `ask` answers facts.
template <typename Facts, typename Answers, size_t n, typename Ask>
void expect(const Row<Facts, Answers> (&rows)[n], Ask ask) {
  for (const Row<Facts, Answers>& row : rows) {
    SCOPED_TRACE(row.fact);
    Facts facts = row.others;
    EXPECT_EQ(ask(facts), row.before);
    row.change(facts);
    EXPECT_EQ(ask(facts), row.after);
  }
}

TEST(CarryPolicy, OfFiles) {
  using F = FileFacts;
  constexpr Reason kCarried = Reason::none;
  const Row<F, Reason> rows[] = {
      {"is_written", {}, [](F& f) { f.is_written = false; }, kCarried, Reason::only_read},
      {"is_watched", {}, [](F& f) { f.is_watched = true; }, kCarried, Reason::watched},
      {"has_plain_driver", {}, [](F& f) { f.has_plain_driver = false; }, kCarried, Reason::other_driver},
      {"names_system", {.is_parallel = true}, [](F& f) { f.names_system = true; }, kCarried, Reason::kind_of_system},
      {"metadata_together",
       {.is_parallel = true},
       [](F& f) { f.metadata_together = true; },
       kCarried,
       Reason::metadata_together},
      {"is_parallel", {.names_system = true}, [](F& f) { f.is_parallel = true; }, kCarried, Reason::kind_of_system},
      {"has_page_buffer", {}, [](F& f) { f.has_page_buffer = true; }, kCarried, Reason::page_buffer},
      {"is_open_with_sieve", {}, [](F& f) { f.is_open_with_sieve = true; }, kCarried, Reason::opened_otherwise},
      {"has_path", {}, [](F& f) { f.has_path = false; }, kCarried, Reason::no_path},
      {"is_parallel, without a path",
       {.has_path = false},
       [](F& f) { f.is_parallel = true; },
       Reason::no_path,
       kCarried},
  };
  expect(rows, [](const F& facts) { return why_not(facts); });
}

TEST(CarryPolicy, OfContiguousDatasets) {
  using F = DatasetFacts;
  const Answer carried{Way::extents, Reason::none};
  const auto left = [](Reason why) { return Answer{Way::hdf5, why}; };
  const F usual{.smallest = kSmallest, .bytes = kSmallest};
  const F small{.smallest = kSmallest, .bytes = kSmallest - 1};
  const F asked{.smallest = kSmallest, .bytes = kSmallest - 1, .small_too = true};
  const F unplaced{.smallest = kSmallest, .bytes = kSmallest, .has_place = false};
  const F refused{.is_refused = true, .smallest = kSmallest, .bytes = kSmallest};
  const Row<F, Answer> rows[] = {
      {"is_of_carried_file", usual, [](F& f) { f.is_of_carried_file = false; }, carried, left(Reason::other_file)},
      {"is_flat", usual, [](F& f) { f.is_flat = false; }, carried, left(Reason::not_flat)},
      {"layout", usual, [](F& f) { f.layout = Layout::external; }, carried, left(Reason::external)},
      {"layout", usual, [](F& f) { f.layout = Layout::other; }, carried, left(Reason::other_layout)},
      {"bytes", usual, [](F& f) { --f.bytes; }, carried, left(Reason::small)},
      {"smallest", usual, [](F& f) { ++f.smallest; }, carried, left(Reason::small)},
      {"small_too", small, [](F& f) { f.small_too = true; }, left(Reason::small), carried},
      {"bytes, of a small one", asked, [](F& f) { f.bytes = 0; }, carried, left(Reason::empty)},
      {"is_parallel, of a small one", asked, [](F& f) { f.is_parallel = true; }, carried, left(Reason::small)},
      {"has_place", usual, [](F& f) { f.has_place = false; }, carried, {Way::placed_first, Reason::none}},
      {"has_place, of a small one", asked, [](F& f) { f.has_place = false; }, carried, left(Reason::no_place)},
      {"is_parallel, without a place",
       unplaced,
       [](F& f) { f.is_parallel = true; },
       {Way::placed_first, Reason::none},
       left(Reason::no_place)},
      {"has_fill",
       unplaced,
       [](F& f) { f.has_fill = false; },
       {Way::placed_first, Reason::none},
       left(Reason::odd_fill)},
      {"is_refused", usual, [](F& f) { f.is_refused = true; }, carried, left(Reason::refused)},
      {"is_parallel, of a refused file", refused, [](F& f) { f.is_parallel = true; }, left(Reason::refused), carried},
  };
  expect(rows, [](const F& facts) { return way_of(facts); });
}

TEST(CarryPolicy, OfDatasetsInChunks) {
  using F = DatasetFacts;
  const Answer plain{Way::plain_chunks, Reason::none};
  const Answer filtered{Way::filtered_chunks, Reason::none};
  const auto left = [](Reason why) { return Answer{Way::hdf5, why}; };
  const F past{.layout = Layout::chunked, .smallest = kSmallest, .chunk_bytes = kSmallest};
  const F crew{.layout = Layout::chunked, .smallest = kSmallest, .chunk_bytes = kSmallest, .has_filters = true};
  const F large{.layout = Layout::chunked, .smallest = 32768, .chunk_bytes = 4096};
  const Row<F, Answer> rows[] = {
      {"layout", past, [](F& f) { f.layout = Layout::contiguous; }, plain, {Way::extents, Reason::none}},
      {"is_of_carried_file", crew, [](F& f) { f.is_of_carried_file = false; }, filtered, left(Reason::other_file)},
      {"is_flat", crew, [](F& f) { f.is_flat = false; }, filtered, left(Reason::not_flat)},
      {"is_parallel", crew, [](F& f) { f.is_parallel = true; }, filtered, left(Reason::parallel_chunks)},
      {"has_chunk_options", crew, [](F& f) { f.has_chunk_options = true; }, filtered, left(Reason::chunk_options)},
      {"chunk_bytes", crew, [](F& f) { --f.chunk_bytes; }, filtered, left(Reason::small_chunks)},
      {"chunk_bytes, of large datasets", large, [](F& f) { --f.chunk_bytes; }, plain, left(Reason::small_chunks)},
      {"smallest", crew, [](F& f) { ++f.smallest; }, filtered, left(Reason::small_chunks)},
      {"has_large_chunks", crew, [](F& f) { f.has_large_chunks = true; }, filtered, left(Reason::large_chunks)},
      {"has_large_chunks", past, [](F& f) { f.has_large_chunks = true; }, plain, left(Reason::large_chunks)},
      {"has_filters", past, [](F& f) { f.has_filters = true; }, plain, filtered},
      {"knows_filters", crew, [](F& f) { f.knows_filters = false; }, filtered, left(Reason::unknown_filters)},
      {"is_early", past, [](F& f) { f.is_early = false; }, plain, left(Reason::unknown_filters)},
      {"reports_places", past, [](F& f) { f.reports_places = false; }, plain, left(Reason::unknown_filters)},
      {"is_cached", past, [](F& f) { f.is_cached = true; }, plain, left(Reason::cached)},
      {"has_userblock", past, [](F& f) { f.has_userblock = true; }, plain, left(Reason::userblock)},
      {"is_refused", past, [](F& f) { f.is_refused = true; }, plain, left(Reason::refused)},
      {"has_fill", past, [](F& f) { f.has_fill = false; }, plain, left(Reason::odd_fill)},
      {"has_fill, with filters", crew, [](F& f) { f.has_fill = false; }, filtered, left(Reason::odd_fill)},
  };
  expect(rows, [](const F& facts) { return way_of(facts); });
}

TEST(CarryPolicy, CarriesChunksThatFitIntoTheBudgetAndInto32Bits) {
  EXPECT_EQ(largest_chunk(1 << 20), 1 << 20);
  EXPECT_LT(largest_chunk(UINT64_MAX) + (largest_chunk(UINT64_MAX) >> 4), UINT32_MAX);  // filters may add some
}

TEST(CarryPolicy, LeavesCachesAndUserblocksAloneWhereHdf5WritesTheChunks) {
  const DatasetFacts facts{.is_refused = true,
                           .layout = Layout::chunked,
                           .has_filters = true,
                           .is_early = false,
                           .reports_places = false,
                           .is_cached = true,
                           .has_userblock = true};
  EXPECT_EQ(way_of(facts), (Answer{Way::filtered_chunks, Reason::none}));
}

TEST(CarryPolicy, OfNewDatasets) {
  using F = NewDatasetFacts;
  const F tiny{.bytes = kSmallest - 1, .smallest = kSmallest};
  const F contiguous{.bytes = kSmallest - 1, .smallest = kSmallest, .grows = true, .is_one_piece = true};
  const Row<F, bool> rows[] = {
      {"bytes", tiny, [](F& f) { ++f.bytes; }, true, false},
      {"bytes, of a contiguous one", contiguous, [](F& f) { ++f.bytes; }, true, false},
      {"smallest", tiny, [](F& f) { --f.smallest; }, true, false},
      {"grows", tiny, [](F& f) { f.grows = true; }, true, false},
      {"is_virtual", tiny, [](F& f) { f.is_virtual = true; }, true, false},
      {"is_among_parallel", tiny, [](F& f) { f.is_among_parallel = true; }, true, false},
      {"is_one_piece", contiguous, [](F& f) { f.is_one_piece = false; }, true, false},
      {"is_one_piece, of 4 KiB",
       {.bytes = 4096, .smallest = 32768},
       [](F& f) { f.is_one_piece = true; },
       false,
       true},
  };
  expect(rows, [](const F& facts) { return stays_small(facts); });
}

TEST(CarryPolicy, OfFilters) {
  using F = FilterFacts;
  constexpr Reason kCarried = Reason::none;
  const Row<F, Reason> rows[] = {
      {"is_known", {}, [](F& f) { f.is_known = false; }, kCarried, Reason::unknown_filter},
      {"is_available", {}, [](F& f) { f.is_available = false; }, kCarried, Reason::unavailable_filter},
      {"has_values", {}, [](F& f) { f.has_values = false; }, kCarried, Reason::filter_values},
      {"may_fail", {.is_optional = false}, [](F& f) { f.may_fail = true; }, kCarried, Reason::must_not_fail},
      {"is_optional", {.may_fail = true}, [](F& f) { f.is_optional = false; }, kCarried, Reason::must_not_fail},
      {"is_second_compressor", {}, [](F& f) { f.is_second_compressor = true; }, kCarried, Reason::second_compressor},
  };
  expect(rows, [](const F& facts) { return why_not(facts); });
}

TEST(CarryPolicy, OfTransfers) {
  using F = TransferFacts;
  constexpr Reason kCarried = Reason::none;
  const Row<F, Reason> rows[] = {
      {"has_data", {}, [](F& f) { f.has_data = false; }, kCarried, Reason::no_data},
      {"is_transformed", {}, [](F& f) { f.is_transformed = true; }, kCarried, Reason::transformed},
      {"has_selection", {}, [](F& f) { f.has_selection = false; }, kCarried, Reason::odd_selection},
      {"converts", {.has_numbers = false}, [](F& f) { f.converts = true; }, kCarried, Reason::odd_conversion},
      {"has_numbers", {.converts = true}, [](F& f) { f.has_numbers = false; }, kCarried, Reason::odd_conversion},
  };
  expect(rows, [](const F& facts) { return why_not(facts); });
}

TEST(CarryPolicy, OfWrites) {
  using F = WriteFacts;
  const Decision carried{Turn::carried, Reason::none};
  const Decision little{Turn::hdf5, Reason::little};
  const F many{.dataset_bytes = kSmallest, .smallest = kSmallest, .writes = 9, .bytes = 9};
  const F few{.dataset_bytes = kSmallest, .smallest = kSmallest, .writes = 8, .bytes = 8 * kSmallest - 1};
  const Row<F, Decision> rows[] = {
      {"is_shown", many, [](F& f) { f.is_shown = true; }, carried, {Turn::hdf5, Reason::shown}},
      {"transfer",
       many,
       [](F& f) { f.transfer = Reason::transformed; },
       carried,
       {Turn::hdf5_when_written, Reason::transformed}},
      {"transfer, of little",
       few,
       [](F& f) { f.transfer = Reason::no_data; },
       little,
       {Turn::hdf5_when_written, Reason::no_data}},
      {"writes", few, [](F& f) { ++f.writes; }, little, carried},
      {"bytes", few, [](F& f) { ++f.bytes; }, little, carried},
      {"smallest", few, [](F& f) { --f.smallest; }, little, carried},
      {"dataset_bytes", few, [](F& f) { --f.dataset_bytes; }, little, carried},
      {"is_pending", few, [](F& f) { f.is_pending = true; }, little, carried},
      {"is_asynchronous", few, [](F& f) { f.is_asynchronous = true; }, little, carried},
      {"is_parallel", few, [](F& f) { f.is_parallel = true; }, little, carried},
      {"is_detached", few, [](F& f) { f.is_detached = true; }, little, carried},
      {"is_refused", many, [](F& f) { f.is_refused = true; }, carried, {Turn::hdf5_when_written, Reason::refused}},
  };
  expect(rows, [](const F& facts) { return turn_of(facts); });
}

TEST(CarryPolicy, OfReads) {
  using F = ReadFacts;
  const Decision carried{Turn::carried, Reason::none};
  const Decision in_file{Turn::hdf5, Reason::in_file};
  const F held{.is_pending = false};
  const F pending{.is_held = false};
  const Row<F, Decision> rows[] = {
      {"is_shown", held, [](F& f) { f.is_shown = true; }, carried, {Turn::hdf5, Reason::shown}},
      {"is_pending", pending, [](F& f) { f.is_pending = false; }, carried, in_file},
      {"are_bytes_pending", pending, [](F& f) { f.are_bytes_pending = false; }, carried, in_file},
      {"is_held", held, [](F& f) { f.is_held = false; }, carried, in_file},
      {"is_parallel", held, [](F& f) { f.is_parallel = true; }, carried, in_file},
      {"has_own_list", held, [](F& f) { f.has_own_list = true; }, carried, in_file},
      {"transfer",
       pending,
       [](F& f) { f.transfer = Reason::transformed; },
       carried,
       {Turn::hdf5_when_written, Reason::transformed}},
  };
  expect(rows, [](const F& facts) { return turn_of(facts); });
}

TEST(CarryPolicy, OfWritesOfChunks) {
  using F = ChunkWriteFacts;
  constexpr Reason kCarried = Reason::none;
  const F past{.goes_past = true};
  const F edge{.has_whole_chunks = false};
  const Row<F, Reason> rows[] = {
      {"transfer", {}, [](F& f) { f.transfer = Reason::no_data; }, kCarried, Reason::no_data},
      {"has_usual_list", {}, [](F& f) { f.has_usual_list = false; }, kCarried, Reason::own_list},
      {"is_one_run", {}, [](F& f) { f.is_one_run = false; }, kCarried, Reason::scattered},
      {"is_block", {}, [](F& f) { f.is_block = false; }, kCarried, Reason::not_a_block},
      {"is_left_alone", {}, [](F& f) { f.is_left_alone = true; }, kCarried, Reason::left_alone},
      {"filters_fail", {}, [](F& f) { f.filters_fail = true; }, kCarried, Reason::filters_fail},
      {"is_shown", past, [](F& f) { f.is_shown = true; }, kCarried, Reason::shown},
      {"has_place", past, [](F& f) { f.has_place = false; }, kCarried, Reason::no_chunk_place},
      {"has_whole_chunks", {}, [](F& f) { f.has_whole_chunks = false; }, kCarried, Reason::part_of_chunk},
      {"goes_past", edge, [](F& f) { f.goes_past = true; }, Reason::part_of_chunk, kCarried},
      {"may_be_left_out", {}, [](F& f) { f.may_be_left_out = true; }, kCarried, Reason::left_out},
  };
  expect(rows, [](const F& facts) { return why_not(facts); });
}

}  // namespace
}  // namespace tailrace::hdf5
