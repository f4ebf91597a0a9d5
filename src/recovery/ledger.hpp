// Ledger: records what a node's server has accepted and not yet put into a published file, so that another server can
// continue after its death (promise 5).
//
// Records are appended to a store that outlives the server; see LedgerStore. A verb is recorded before it is taken
// from its ring; a block's end is in its segment (Channel::ended). Records of published iterations are struck out;
// when most are, the whole ledger is rewritten. Runs on the server's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/function_ref.hpp"
#include "base/log.hpp"
#include "base/status.hpp"
#include "filter/pipeline.hpp"
#include "model/block.hpp"
#include "model/wire/core_wire.hpp"
#include "recovery/ledger_records.hpp"
#include "recovery/ledger_store.hpp"

namespace tailrace::impl {

class Ledger {
 public:
  // Groups of files: kNode is the group of all clients; any other number is the group of that client alone.
  static constexpr int kNode = -1;
  // The iteration of a record that belongs to none.
  static constexpr int64_t kNone = -3;

  // Opens the ledger, with the records of an earlier server. Borrows `log`.
  static Result<Ledger> open(std::unique_ptr<LedgerStore> store, Log& log);
  // Returns a ledger that records nothing: for a server that dies with its clients.
  static Ledger of_nothing(Log& log);

  void accepted(int client, const Descriptor& descriptor);
  void placed(const Block& block, uint64_t index, const FilteredChunk& chunk, const Loss& loss);
  void failed(int group, int64_t iteration, const Status& why);
  void left(int group, int64_t iteration);
  // Records that the iteration has left without a file. One record says both, so that no server finds one without the
  // other.
  void unpublished(int group, int64_t iteration, const Status& why);
  // Returns the failure in a record of kind failed or unpublished.
  static Status failure_of(const LedgerRecord& record);
  // Strikes out the reads, flushes and verbs about raw files for which `answered` returns true: nobody needs to
  // repeat them. Also strikes out settings of parameters that were replaced before any record used them.
  void settle(FunctionRef<bool(int client, const Descriptor& verb)> answered);
  // Records that the client has left, while others go on in the same files. `run`: the times of the run so far.
  void gone(int client, const RunTimes& run);
  // Records that the server has stopped waiting for clients of the run that have not come. It is called again with
  // the final times of the run: the latest record holds.
  void absent(const RunTimes& run);
  // Begins another run: forgets what concerned all clients of the earlier run, and who has left it. Forgets nothing
  // while data of the earlier run wait for a reader.
  void begin_run();
  // Records that the group's list of dropped iterations has `end` bytes.
  void journaled(int group, uint64_t end);
  uint64_t journal_end(int group) const;
  // Forgets a client that has nothing left to do.
  void forget(int client);
  // Forgets all clients but these.
  void keep_only(const std::set<int>& clients);

  // The contents of a record of placed().
  struct Placed {
    Block block;  // without its layout, which follows from earlier verbs
    uint64_t index = 0;
    FilteredChunk chunk;
    Loss loss;
  };
  static Placed placed_by(const LedgerRecord& record);

  // Returns ok if the earlier server recorded all that it accepted. Otherwise the records are of no use: they lack
  // verbs that left the rings, and ends of iterations.
  const Status& is_whole() const { return is_whole_; }
  // Returns the error of clients whose server has died after it had given its ledger up.
  static Status lost_with(const Status& why);
  // Forgets all records.
  void clear();

  // Returns the records that are not struck out, oldest first.
  const LedgerRecords& records() const { return records_; }
  // Returns the latest verb of the client that an earlier server recorded and did not strike out; 0 if there is none.
  uint64_t last_sequence(int client) const;

  // Removes the store. Call it when there is nothing left to do.
  void remove();

 private:
  Ledger(std::unique_ptr<LedgerStore> store, Log& log) : store_(std::move(store)), log_(&log) {}
  Status read();
  void strike_out(int group, int64_t iteration);
  void add(const LedgerRecord& record);
  void append(const LedgerRecord& record);
  void keep(const LedgerRecord& record);
  void note(LedgerRecord::Kind kind, int group, int64_t iteration, const Status& why);
  void shorten();
  void write_anew();
  void has_written_all();
  void give_up(const Status& why);

  std::unique_ptr<LedgerStore> store_;  // null: nothing is recorded
  Log* log_;
  bool given_up_ = false;  // the store lacks records, and says so
  LedgerRecords records_;
  std::map<int, uint64_t> last_of_earlier_;  // by client
  size_t written_ = 0;                       // records in the store
  size_t shortened_from_ = 0;                // records in the store when it could not be shortened; 0: it could
  Status is_whole_;
};

}  // namespace tailrace::impl
