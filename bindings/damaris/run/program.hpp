// Program: everything that a process has between damaris_initialize and damaris_finalize. Its calls return codes of
// Damaris, or throw Failure; Damaris.h says what they do.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "damaris/ranks/events.hpp"
#include "damaris/ranks/forwarder_rank.hpp"
#include "damaris/ranks/ranks.hpp"
#include "damaris/ranks/server_rank.hpp"
#include "damaris/ranks/signals.hpp"
#include "damaris/run/client_block.hpp"
#include "damaris/run/parameters.hpp"
#include "damaris/run/store_client.hpp"
#include "damaris/xml/model.hpp"

namespace tailrace::damaris {

class Program {
 public:
  // Collective. Throws Failure, on all ranks, if the description is wrong.
  Program(const std::string& file, MPI_Comm comm);

  int start(int* is_client);
  int stop();
  // Stops, if the program has not.
  int finalize();

  int write(const std::string& variable, int32_t block, const void* data);
  int alloc(const std::string& variable, int32_t block, void** memory);
  int commit(const std::string& variable, int32_t block, int64_t iteration);
  int clear(const std::string& variable, int32_t block, int64_t iteration);
  int move(const std::string& variable, int32_t block, const int64_t* position);
  int end_iteration();
  ElementType type_of(const std::string& variable);
  int signal(const std::string& event);
  int bind(const std::string& event, signal_t function);

  Parameters& parameters() { return parameters_; }
  int64_t iteration() const { return iteration_; }
  MPI_Comm same() const { return ranks_.same(); }

 private:
  // A block of a variable, and where it is written.
  struct Slot {
    ClientBlock block;
    const Variable* variable;
    size_t store;                           // index into clients_
    size_t index;                           // of the block in its store
    bool stored;                            // false: no store, or not enabled
    std::optional<size_t> script_index;     // of the block among those that scripts get
    bool ended = false;                     // it does not vary with time, and its store has it
    bool scripted = false;                  // it does not vary with time, and scripts have it
    std::unique_ptr<std::byte[]> unstored;  // memory for a block that is not stored
    std::optional<int64_t> unstored_at;     // its iteration
  };

  void make_slots();
  Slot& slot_of(const std::string& variable, int32_t block);
  bool is_due(const Slot& slot) const;
  void need_client() const;
  Expression::Lookup present() const {
    return [this](const std::string& name) { return parameters_.integer(name); };
  }
  void open_clients();
  void serve();
  // Returns true if ranks or nodes are dedicated to writing.
  bool has_dedicated() const { return ranks_.has_servers() || !ranks_.forwarder_ranks().empty(); }
  int alloc_unstored(Slot& slot, void** memory);
  std::optional<Outcome> give_to_scripts(Slot& slot, int64_t iteration, const void* data);
  void check_readable(Slot& slot, const void* data);

  const Model model_;
  Ranks ranks_;
  Parameters parameters_;
  Events events_;
  std::unordered_map<std::string, size_t> variables_;
  std::vector<Slot> slots_;                            // `domains` for each variable
  std::vector<std::unique_ptr<StoreClient>> clients_;  // by store in use
  std::unique_ptr<StoreClient> scripts_;               // gives scripts their data
  std::unique_ptr<Signals> signals_;
  std::unique_ptr<Forwarding> forwarding_;  // nullptr: there are no dedicated nodes
  std::string run_;                         // differs from run to run
  int64_t iteration_ = 0;
  bool started_ = false;  // a client is open, or the server has served
  bool started_before_ = false;
  bool whole_ = true;  // this rank knows no file that a node has not written
};

}  // namespace tailrace::damaris
