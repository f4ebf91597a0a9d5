// Counters of the server for a client: of the client as a whole, and of each variable.
//
// Written by the server, read by the client; each number stands by itself (base/histogram.hpp).
#pragma once

#include <cstdint>

#include "base/histogram.hpp"

namespace tailrace::impl {

struct ServerCounters {
  // Place `core`: taken from the ring, whether by this server or one before it.
  Tally blocks_accepted;
  Tally bytes_accepted;
  Tally blocks_written;
  Tally blocks_failed;
  Tally bytes_written;
  Tally bytes_failed;
  Tally iterations_published;
  Tally iterations_failed;
  Tally busy_nanoseconds;  // with at least one transfer under way
  Tally requests_merged;   // went to storage together with others
  Tally requests_peak;     // the most at once that had not ended
  Tally transfers;
  Tally transfers_direct;    // past the page cache
  Tally transfers_again;     // ended short or interrupted, and continued
  Tally transfer_fallbacks;  // refused past the page cache, and sent through it
  Tally accesses;            // that pieces of requests were merged into
  Tally bytes_overwritten;   // never written, since a later write of the same client had them
  Tally bytes_stolen;        // of reads, that came from the memory of pending writes
  Tally bytes_sieved;        // read for nothing: holes between bytes that were wanted
};

struct VariableCounters {
  Tally blocks_written;
  Tally blocks_failed;
  Tally blocks_merged;
  Tally blocks_cached;  // long enough to go past the page cache, and did not, in whole or in part
  Tally bytes_written;
  Histogram queued;   // from hand-over until the first transfer
  Histogram writing;  // from there until written or failed
  // Filtered variables:
  Tally chunks_filtered;
  Tally chunks_relaxed;  // of these, by the compressor's fastest level, for want of time
  Tally chunks_skipped;  // … and not compressed, for want of time
  Tally bytes_filtered;  // of these chunks, before
  Tally bytes_stored;    // … and after
  Histogram filtering;   // of a block: all of its chunks, one after the other
};

}  // namespace tailrace::impl
