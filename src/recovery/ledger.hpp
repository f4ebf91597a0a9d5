// Ledger: what the server of a node has accepted and not yet brought into a published file, so that another server
// can go on after its death (promise 5).
//
// Records appended to what outlives the server, see LedgerStore. A verb is written down before it is taken from its
// ring; a block's end is in its segment (Channel::ended). What has been published is struck out, and the whole
// written anew when most of it is struck out. The server's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "base/function_ref.hpp"
#include "base/log.hpp"
#include "base/status.hpp"
#include "filter/pipeline.hpp"
#include "model/block.hpp"
#include "model/wire/core_wire.hpp"
#include "recovery/ledger_store.hpp"

namespace tailrace::impl {

class Ledger {
 public:
  // Groups of files: kNode is all clients, any other the client of that number alone.
  static constexpr int kNode = -1;
  // In place of an iteration, where a record is about none.
  static constexpr int64_t kNone = -3;

  // Takes up what an earlier server left there. `log` is borrowed.
  static Result<Ledger> open(std::unique_ptr<LedgerStore> store, Log& log);

  void accepted(int client, const Descriptor& descriptor);
  void placed(const Block& block, uint64_t index, const FilteredChunk& chunk, const Loss& loss);
  void failed(int group, int64_t iteration, const Status& why);
  void left(int group, int64_t iteration);
  // Notes that the iteration has no file, and keeps the note. One line says both, so that no server finds one without
  // the other.
  void unpublished(int group, int64_t iteration, const Status& why);
  // Returns the failure in a record of a failure, or of an iteration without a file.
  static Status failure_of(const LedgerRecord& record);
  // Strikes out the reads, flushes and verbs about raw files that `answered` says are: nothing need be done for them
  // again. And the values of
  // parameters that no record has seen before they were replaced.
  void settle(FunctionRef<bool(int client, const Descriptor& verb)> answered);
  // The client has left, and others go on in the same files.
  void gone(int client);
  // Clients of the run that have yet to come are not waited for any more. Once more with the times that the run has
  // in the end: the latest hold.
  void absent(const RunTimes& run);
  // Another run begins: forgets what was of all clients of the earlier one, and who has left it; but nothing while
  // data of it wait for somebody who can read them.
  void begin_run();
  // The group's list of dropped iterations has so many bytes.
  void journaled(int group, uint64_t end);
  uint64_t journal_end(int group) const;
  // Nothing of the client is left to do.
  void forget(int client);
  // Forgets all clients but these.
  void keep_only(const std::set<int>& clients);

  // The contents of a line of placed().
  struct Placed {
    Block block;  // without its layout, which follows from the verbs before
    uint64_t index = 0;
    FilteredChunk chunk;
    Loss loss;
  };
  static Placed placed_by(const LedgerRecord& record);

  // Returns the records that are not struck out, oldest first.
  const std::vector<LedgerRecord>& records() const { return records_; }
  // The latest verb of the client among them; 0 if there is none.
  uint64_t last_sequence(int client) const;

  // Removes the store, when there is nothing left to do.
  void remove();

 private:
  Ledger(std::unique_ptr<LedgerStore> store, Log& log) : store_(std::move(store)), log_(&log) {}
  Status read();
  void strike_out(int group, int64_t iteration);
  void append(const LedgerRecord& record);
  void note(LedgerRecord::Kind kind, int group, int64_t iteration, const Status& why);
  void shorten();
  void write_anew();
  void give_up(const Status& why);

  std::unique_ptr<LedgerStore> store_;
  Log* log_;
  bool given_up_ = false;  // it could not be written
  std::vector<LedgerRecord> records_;
  size_t written_ = 0;  // records in the store
};

}  // namespace tailrace::impl
