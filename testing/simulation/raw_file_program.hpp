// RawFileProgram: the raw files of a client's program. It calls the verbs at random, on files that it shares with the
// other clients of its server, keeps their model, and checks the result of each call.
//
// It is a part of ClientProgram, which calls it from time to time. Runs on the client's fiber.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "testing/simulation/application.hpp"
#include "testing/simulation/raw_file_model.hpp"
#include "testing/simulation/sim_storage.hpp"
#include "testing/simulation/world.hpp"

namespace tailrace::impl::simulation {

class RawFileProgram {
 public:
  // The program to which this belongs.
  class Caller {
   public:
    virtual ~Caller() = default;
    // Notes the return of a verb: dies if it is time.
    virtual void returned(const char* verb, const std::string& of, const Status& status) = 0;
    // Counts a failure that a verb has reported for itself.
    virtual void count_told() = 0;
    // Takes all failures of earlier verbs.
    virtual void take_earlier() = 0;
    // Checks a refusal for lack of memory.
    virtual void check_refusal(const Status& status) = 0;
  };

  // Borrows all its objects.
  RawFileProgram(World& world, Application& process, const Faults& faults, RawFileModels& models, uint64_t seed,
                 Caller& caller);

  // Calls a verb, or none, which is more likely.
  void step();
  // Closes most of the open files.
  void close();

  // Notes a failure of a write, or of a verb that a server had begun before it died.
  void note(const Fault& fault);
  static bool is_about(const Fault& fault) { return fault.operation.starts_with("file_"); }
  // Notes that all verbs have ended, and the failures were taken.
  void all_ended();
  // Notes that the process died. `is_served`: a server continues its verbs. `untold`: there may have been failures
  // that it did not take.
  void died(bool is_served, bool untold);

  // Returns the bytes of the pool that open files hold.
  uint64_t held() const;

 private:
  struct Open {
    uint32_t handle = 0;
    std::string path;  // as the server knows it
    bool writes = false;
  };
  // A call that opens a file, and the state when it was made.
  struct Opening {
    std::string path;
    bool writes = false;
    RawWrite* emptying = nullptr;  // null: it does not empty the file
    bool may_be_open = false;      // another opening may be in use
    uint64_t number = 0;           // its number among the openings of the file
    bool must_exist = false;
  };

  void open();
  Opening begin_opening(const std::string& path, int mode);
  void opened(const Opening& opening, uint32_t handle);
  void not_opened(const Opening& opening, const Status& status);
  void write(const Open& of);
  void write_nonsense(const Open& of);
  void read(const Open& of);
  void check_read(const Open& of, const std::vector<Extent>& extents, const RawReader& reader, const Status& status,
                  const std::vector<std::byte>& found);
  void ask_size(const Open& of);
  void empty(const Open& of);
  void sync(const Open& of);
  void close_one(size_t index);
  std::vector<Extent> some_extents(bool may_overlap);
  Extent some_extent();
  bool is_one_request(const std::vector<Extent>& extents) const;

  bool refused(const Status& status);
  void check_cause(const Fault& fault, const std::string& path);
  bool has_failed_writes(const std::string& path) const;
  void end_writes(const std::function<bool(const RawWrite&)>& of);
  RawFileModel& model(const std::string& path) { return models_.files.at(path); }
  void check(bool holds, const char* checker, const char* what) { world_.story().check(holds, checker, what); }
  [[noreturn]] void fail(const char* checker, const std::string& what) { world_.story().fail(checker, what); }

  World& world_;
  Application& process_;
  const Faults& faults_;
  RawFileModels& models_;
  Caller& caller_;
  const RawFilePlan& plan_;
  const int number_;
  SplitDice dice_;
  uint64_t contents_ = 0;
  std::vector<Open> open_;
};

}  // namespace tailrace::impl::simulation
