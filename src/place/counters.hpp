// What the server counts for a client: of the client as a whole, and of each variable.
//
// Written by the server, read by the client; each number stands by itself (base/histogram.hpp).
#pragma once

#include <cstdint>

#include "base/histogram.hpp"

namespace tailrace::impl {

struct ServerCounters {
  Tally blocks_written;
  Tally blocks_failed;
  Tally bytes_written;
  Tally iterations_published;
  Tally iterations_failed;
  Tally busy_nanoseconds;  // with at least one transfer under way
  Tally requests_merged;   // went to storage together with others
  Tally requests_peak;     // the most at once that had not ended
  Tally transfers;
  Tally transfers_direct;    // past the page cache
  Tally transfers_again;     // ended short or interrupted, and continued
  Tally transfer_fallbacks;  // refused past the page cache, and sent through it
};

struct VariableCounters {
  Tally blocks_written;
  Tally blocks_failed;
  Tally blocks_merged;
  Tally bytes_written;
  Histogram queued;   // from hand-over until the first transfer
  Histogram writing;  // from there until written or failed
};

}  // namespace tailrace::impl
