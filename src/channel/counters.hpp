// The server's counters for a client: for the client as a whole, and for each variable.
//
// The server writes them, the client reads them; each number stands by itself (base/histogram.hpp).
#pragma once

#include <cstdint>

#include "base/histogram.hpp"

namespace tailrace::impl {

struct ServerCounters {
  // Place `core`: verbs taken from the ring, by this server and by earlier ones.
  Tally blocks_accepted;
  Tally bytes_accepted;
  Tally blocks_written;
  Tally blocks_failed;
  Tally bytes_written;
  Tally bytes_failed;
  Tally iterations_published;
  Tally iterations_failed;
  Tally busy_nanoseconds;  // with at least one transfer in progress
  Tally requests_merged;   // written or read together with others
  Tally requests_peak;     // most unfinished at once
  Tally transfers;
  Tally transfers_direct;    // bypassing the page cache
  Tally transfers_again;     // ended short or interrupted, and continued
  Tally transfer_fallbacks;  // refused past the page cache, and repeated through it
  Tally accesses;            // that pieces of requests were merged into
  Tally bytes_overwritten;   // never written, since a later write of the same client replaced them
  Tally bytes_stolen;        // of reads: copied from the memory of pending writes
  Tally bytes_sieved;        // read in vain: holes between requested bytes
};

// 2 KiB, nearly all of it buckets, which give percentiles of any number of blocks in fixed memory. All are taken at
// the start, also for variables that are never written: a request allocates nothing, and shared memory that is full
// later would kill the server. 10⁵ variables cost 210 MB for each client. Their description and HDF5's metadata cost
// as much again, and time in each iteration (docs/benchmarks.md), so that programs have fewer and larger ones.
struct VariableCounters {
  Tally blocks_written;
  Tally blocks_failed;
  Tally blocks_merged;
  Tally blocks_cached;  // long enough for direct transfer, but written through the page cache in whole or in part
  Tally bytes_written;
  Histogram queued;   // from hand-over to the first transfer
  Histogram writing;  // from there until written or failed
  // Filtered variables:
  Tally chunks_filtered;
  Tally chunks_relaxed;  // of these, with the compressor's fastest level, for lack of time
  Tally chunks_skipped;  // … and not compressed, for lack of time
  Tally bytes_filtered;  // of these chunks, before filtering
  Tally bytes_stored;    // … and after
  Histogram filtering;   // time per block: all of its chunks together
};

}  // namespace tailrace::impl
