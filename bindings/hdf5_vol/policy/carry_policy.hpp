// CarryPolicy decides which data of an HDF5 program tailrace carries, and says why it leaves the others to HDF5.
//
// It is pure: it knows facts, and no HDF5. To look a fact up may cost a call of HDF5, so a fact that was not
// looked up has a value that forbids nothing. A caller looks up the cheap facts first, asks, and goes on only while
// the answer is yes. Facts that can permit what others forbid cost nothing, and are set before these.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tailrace::hdf5 {

enum class Reason : uint8_t {
  none,  // it is carried
  // of files
  only_read,
  watched,            // other programs see each write
  other_driver,       // arranges the bytes in its own way
  kind_of_system,     // MPI-IO treats the file in a way of its own
  metadata_together,  // HDF5 could write metadata at any time, and the bytes between them back as they were
  page_buffer,        // would become stale
  opened_otherwise,   // HDF5 keeps the properties with which it has opened the file first
  no_path,
  // of datasets
  other_file,  // that is not carried
  not_flat,    // data that lie elsewhere or refer to objects are HDF5's own
  other_layout,
  external,
  small,
  empty,
  no_place,         // HDF5 has to make the first write
  odd_fill,         // HDF5 has to fill the dataset
  parallel_chunks,  // HDF5 handles the chunks of a file of several processes
  chunk_options,
  unknown_filters,
  cached,  // HDF5's chunk cache would become stale
  userblock,
  small_chunks,
  large_chunks,  // the memory for one is limited
  refused,       // the client cannot open the file
  // of filters
  unknown_filter,
  unavailable_filter,  // HDF5 could not read the chunk again
  filter_values,       // some are missing
  must_not_fail,       // HDF5 reports the failure of a mandatory filter
  second_compressor,
  // of transfers
  shown,  // the program looks at the data past HDF5
  no_data,
  transformed,
  odd_selection,
  odd_conversion,
  little,   // HDF5 writes it faster than another thread does
  in_file,  // HDF5 reads it there
  own_list,
  scattered,  // in memory
  not_a_block,
  part_of_chunk,
  left_alone,     // the file
  filters_fail,   // HDF5 would do the work again
  left_out,       // HDF5 may have stored the chunk without its compressor
  no_chunk_place  // of a chunk without filters
};

// ---- files ----

struct FileFacts {
  bool is_written = true;          // by this program
  bool is_watched = false;         // by other programs that read while this one writes, or the other way round (SWMR)
  bool has_plain_driver = true;    // that of plain files, or that of several processes
  bool is_parallel = false;        // several processes open it together
  bool names_system = false;       // its name begins with a kind of file system
  bool metadata_together = false;  // all processes write its metadata together
  bool has_page_buffer = false;
  bool is_open_with_sieve = false;  // HDF5 had it open already, with a sieve buffer
  bool has_path = true;
};
Reason why_not(const FileFacts& file);

// ---- datasets ----

enum class Layout : uint8_t { contiguous, external, chunked, other };

// How the data of a dataset move.
enum class Way : uint8_t {
  hdf5,             // HDF5 moves them
  extents,          // as extents of the file
  placed_first,     // the same, when HDF5 has allocated the dataset
  filtered_chunks,  // the crew filters whole chunks, and HDF5 writes them
  plain_chunks      // as extents of the file that lie in chunks
};

struct DatasetFacts {
  bool is_of_carried_file = true;
  bool is_parallel = false;  // its file is open in several processes
  bool is_refused = false;   // its file cannot be opened by the client
  bool is_flat = true;       // its elements hold all of their data
  Layout layout = Layout::contiguous;
  uint64_t smallest = 0;  // bytes of a dataset that is worth carrying
  bool has_fill = true;   // its fill value is known, if the connector has to fill

  // contiguous
  uint64_t bytes = UINT64_MAX;  // of all elements
  bool small_too = false;       // it is to be carried even if it is small
  bool has_place = true;

  // in chunks
  uint64_t chunk_bytes = UINT64_MAX;
  bool has_large_chunks = false;   // larger than largest_chunk()
  bool has_chunk_options = false;  // HDF5 filters not all of them
  bool has_filters = false;        // any …
  bool knows_filters = true;       // … and the connector has them all
  bool is_early = true;            // all chunks have a place as soon as the dataset has its extent …
  bool reports_places = true;      // … and HDF5 reports these places reliably
  bool is_cached = false;          // by HDF5
  bool has_userblock = false;      // its file has bytes before HDF5's own
};
struct Answer {
  Way way;
  Reason why;  // none, unless the way is hdf5
};
Answer way_of(const DatasetFacts& dataset);

// Returns the size, in bytes, of the smallest chunk that is worth carrying. Filtering a smaller one takes less time
// than handing it over. The limit is lower if smaller datasets are carried, too.
inline uint64_t smallest_chunk(uint64_t smallest_dataset) { return std::min(uint64_t{4} << 10, smallest_dataset); }

// Returns the size, in bytes, of the largest chunk that is carried: it is copied as a whole. HDF5 1.14 counts the
// bytes of a filtered chunk in 32 bits, and some filters add a few.
inline uint64_t largest_chunk(uint64_t budget) { return std::min(uint64_t{2} << 30, budget); }

// A dataset that is about to be created.
struct NewDatasetFacts {
  uint64_t bytes = 0;
  uint64_t smallest = 0;
  bool grows = false;              // or it is not known that it does not
  bool is_one_piece = false;       // contiguous or compact
  bool is_virtual = false;         // shows others
  bool is_among_parallel = false;  // the process has files of several processes
};
// Returns true if the dataset stays so small that nothing of it is carried, unless the program writes it in parts.
bool stays_small(const NewDatasetFacts& dataset);

struct FilterFacts {
  bool is_known = true;      // the connector has it
  bool is_available = true;  // HDF5 has it, too, and can apply it
  bool has_values = true;    // that it needs
  bool may_fail = false;     // it does not make every chunk smaller
  bool is_optional = true;   // HDF5 leaves it out if it fails
  bool is_second_compressor = false;
};
Reason why_not(const FilterFacts& filter);

// ---- transfers ----

// Says how the data of one call move.
enum class Turn : uint8_t {
  carried,
  hdf5,              // HDF5 moves them at once
  hdf5_when_written  // HDF5 moves them when nothing of the file is on its way any more
};
struct Decision {
  Turn turn;
  Reason why;  // none if it is carried
};

struct TransferFacts {
  bool has_data = true;         // memory of the program
  bool is_transformed = false;  // data are computed on their way
  bool has_selection = true;    // that is valid, and the same number of elements in memory and in the file
  bool converts = false;
  bool has_numbers = true;  // in memory and in the file
};
// Whatever is not understood, or wrong, is for HDF5 to do, or to refuse in its own words.
Reason why_not(const TransferFacts& transfer);

struct WriteFacts {
  bool is_shown = false;           // the program looks at the dataset past HDF5
  Reason transfer = Reason::none;  // why_not(TransferFacts)
  bool is_asynchronous = false;
  bool is_parallel = false;  // either all processes carry what they write together, or none does
  bool is_detached = false;  // no call waits for such a file
  bool is_pending = false;   // writes to the dataset are on their way
  uint64_t dataset_bytes = 0;
  uint64_t smallest = 0;         // of a dataset that is worth carrying
  uint64_t writes = UINT64_MAX;  // since the file was last complete, with this one
  uint64_t bytes = UINT64_MAX;   // of these
  bool is_refused = false;       // the client cannot open the file
};
// Returns true if it matters how many writes, and how many bytes, have come since the file was last complete.
bool counts(const WriteFacts& write);
Decision turn_of(const WriteFacts& write);

struct ReadFacts {
  bool is_shown = false;
  bool is_pending = true;         // writes to the dataset are on their way …
  bool are_bytes_pending = true;  // … to the bytes that are read
  bool is_parallel = false;
  bool has_own_list = false;       // to look at that list takes longer than a call of the system
  Reason transfer = Reason::none;  // why_not(TransferFacts)
  bool is_held = true;             // the bytes have been read ahead
};
Decision turn_of(const ReadFacts& read);

// A write to a dataset in chunks. HDF5 writes what is not carried when it has all chunks.
struct ChunkWriteFacts {
  Reason transfer = Reason::none;  // why_not(TransferFacts)
  bool has_usual_list = true;      // other lists may have functions that are to be called, or say how
  bool is_one_run = true;          // in memory
  bool is_block = true;            // of the dataset
  bool is_left_alone = false;      // the file
  bool goes_past = false;          // as extents of the file (Way::plain_chunks)
  bool is_shown = false;           // the program looks at the dataset past HDF5
  bool has_whole_chunks = true;
  bool filters_fail = false;     // for many chunks, and for most
  bool may_be_left_out = false;  // HDF5 may have stored one chunk without its compressor
  bool has_place = true;         // one chunk
};
Reason why_not(const ChunkWriteFacts& write);

}  // namespace tailrace::hdf5
