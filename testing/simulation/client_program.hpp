// ClientProgram: a random application of one client. It calls the verbs in any order, keeps the model, and checks the
// result of each call.
//
// It runs on the client's fiber, in either place. It ends with Killed when its process has died, and with ServerLost
// when it has lost its server.
#pragma once

#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "testing/simulation/application.hpp"
#include "testing/simulation/fault_plan.hpp"
#include "testing/simulation/model.hpp"
#include "testing/simulation/raw_file_program.hpp"
#include "testing/simulation/world.hpp"

namespace tailrace::impl::simulation {

class ClientProgram final : private RawFileProgram::Caller {
 public:
  // Borrows all its objects. `models` are those of all clients, by number. `operations`: most calls (to make a
  // failing run shorter).
  ClientProgram(World& world, Application& process, const Faults& faults, std::vector<ClientModel>& models,
                RawFileModels& raw_files, uint64_t seed, uint64_t operations);

  void run();
  // Checks the counters. Call it after the server has ended, unless the process died.
  void check_counters();
  // Call it after the end of a process that died: takes the failures that its server would have reported.
  void hear_the_rest(bool abandoned);
  // Notes that the process's server died with it.
  void end_with_server() { raw_files_.died(false, false); }

 private:
  // Memory lent to `borrow`, at any alignment.
  struct Lent {
    std::unique_ptr<std::byte, void (*)(void*)> memory{nullptr, std::free};
    std::byte* data = nullptr;
    uint64_t bytes = 0;
    uint64_t ticket = 0;
    bool ended = false;
  };

  void arm_death(uint64_t operation);
  void step();
  int64_t some_iteration();
  void write(int64_t number, IterationModel& iteration, uint32_t variable);
  void alloc(int64_t number, IterationModel& iteration, uint32_t variable);
  void commit(int64_t number, IterationModel& iteration, uint32_t variable);
  void borrow(int64_t number, IterationModel& iteration, uint32_t variable);
  void wait_for(Lent& lent);
  void wait_for_some();
  bool move_grids(int64_t number);
  void change_lengths();
  tailrace_status expected_of(const std::vector<uint64_t>& lengths) const;
  void signal(int64_t number, IterationModel& iteration);
  void set_attribute(int64_t number, IterationModel& iteration);
  void end(int64_t number, IterationModel& iteration);
  void read(int64_t number, IterationModel& iteration, uint32_t variable);
  void check_read(int64_t number, IterationModel& iteration, uint32_t variable, const Status& status,
                  const std::byte* data);
  void flush();
  void close();

  // Notes the return of a verb: dies if it is time, and tells the story.
  void returned(const char* verb, int64_t number, const char* variable, const Status& status);
  void end_verb(const Status& status);
  void take_earlier() override;
  void note(const Fault& fault);
  void check_cause(const Fault& fault, const IterationModel& iteration);
  void note_end_of(const Status& status);
  bool refused(IterationModel& iteration, const Status& status);
  void check_refusal(const Status& status) override;
  void returned(const char* verb, const std::string& of, const Status& status) override;
  void count_told() override { ++told_; }
  void may_accept(IterationModel& iteration, uint32_t variable, Content content);
  void accept(IterationModel& iteration, uint32_t variable, Content content);
  // Returns true if the variable is part of one dataset with other clients' parts.
  bool is_part(uint32_t variable) const;
  // Both return true if another client that shares the files may have touched, or dropped, the iteration.
  bool others_touch(int64_t number) const;
  bool others_may_drop(int64_t number) const { return of_node_ && may_be_dropped(models_, number); }
  void acknowledge(bool closing);
  void check_memory();
  void check_variables();
  void check_told();
  Lent lend(uint64_t bytes);
  Content new_content() { return ++contents_ << 8 | static_cast<uint64_t>(process_.number() + 1); }
  uint64_t bytes_of(uint32_t variable) const { return bytes_of(variable, lengths_[variable]); }
  uint64_t bytes_of(uint32_t variable, uint64_t length) const;
  // Returns true if a block may come: an array has one length in an iteration. If grids move, it moves them there.
  bool may_come(int64_t number, const IterationModel& iteration, uint32_t variable);
  const char* name_of(uint32_t variable) const { return config_.variables[variable].name.c_str(); }
  void check(bool holds, const char* checker, const char* what) { world_.story().check(holds, checker, what); }
  [[noreturn]] void fail(const char* checker, const std::string& what) { world_.story().fail(checker, what); }

  World& world_;
  Application& process_;
  const Faults& faults_;
  const std::vector<ClientModel>& models_;
  ClientModel& model_;
  const Config& config_;
  const ClientPlan& plan_;
  const bool of_node_;       // its files are the node's
  const std::string owner_;  // owner of its files
  Client& client_;
  SplitDice dice_;
  SplitDice change_dice_;          // separate, so that a program without changes stays the same
  SplitDice attribute_dice_;       // of attributes: others stay as they were without them
  std::vector<uint64_t> lengths_;  // of arrays along the first axis, by variable
  const bool grids_move_;
  std::optional<int64_t> grids_at_;  // the iteration where they are
  const uint64_t operations_;
  uint64_t contents_ = 0;
  std::vector<uint64_t> weights_;  // of the verbs, in this run
  std::vector<int64_t> window_;    // iterations that it works on
  int64_t next_iteration_ = 0;
  std::vector<Lent> lent_;
  // Memory of the latest write and read: if the process dies within them, the server may use it a moment longer.
  Lent writing_;
  Lent reading_;
  uint64_t accepted_ = 0;
  std::map<uint32_t, uint64_t> accepted_of_;  // by variable
  uint64_t told_ = 0;                         // failures that any call has reported
  RawFileProgram raw_files_;
};

}  // namespace tailrace::impl::simulation
