// FilesRig: a group of files with the engine and the storage that they need, in memory, and nobody that serves them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/schedule/fifo.hpp"
#include "format/hdf5/hdf5_format.hpp"
#include "publish/file_group.hpp"
#include "storage/memory/memory_storage.hpp"
#include "testing/fault_storage.hpp"
#include "testing/gated_storage.hpp"
#include "testing/kept_log.hpp"
#include "testing/sim_clock.hpp"

namespace tailrace::impl {

// A client of the group that keeps its reports.
struct KeptMember final : GroupMember {
  explicit KeptMember(int number_in) : number(number_in) {}
  int client() const override { return number; }
  void left(int64_t, const Departure& departure) override { how = departure.status; }
  void gone(int64_t) override {}
  void tell(const Status& failure) override { faults.push_back(failure.fault()); }

  const int number;
  Status how;  // in which the last iteration left
  std::vector<Fault> faults;
};

struct FilesRig {
  explicit FilesRig(Config config_in, FaultPlan plan = {}, const EngineOptions& engine_options = {},
                    FileGroup::Options options = {})
      : config(std::move(config_in)),
        storage(gate, doorbell, 1, std::move(plan)),
        engine(storage, fifo, clock, engine_options),
        files(config.storage, engine, format, log, witness, std::move(options)) {}

  bool idle() const { return files.idle() && engine.idle(); }
  void run() {
    while (!idle()) {
      engine.progress();
      files.progress();
    }
  }

  // Nothing is recorded.
  struct NoWitness final : Witness {
    void failed(int64_t, const Status&) override {}
    void left(int64_t) override {}
    void unpublished(int64_t, const Status&) override {}
    void journaled(uint64_t) override {}
    Status doubt(int64_t) override { return {}; }
    void placed(const Block&, uint64_t, const FilteredChunk&, const Loss&) override {}
  };

  const Config config;
  SimClock clock;
  KeptLog log;
  Doorbell doorbell;
  MemoryStorage memory{doorbell};
  GatedStorage gate{memory, doorbell};
  FaultStorage storage;
  Fifo fifo;
  Engine engine;
  Hdf5Format format{config, storage, {0, "machine", [] { return std::string("2026-01-02 03:04:05 +0000"); }}};
  NoWitness witness;
  FileGroup files;
};

}  // namespace tailrace::impl
