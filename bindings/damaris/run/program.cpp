#include "damaris/run/program.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <new>
#include <system_error>

#include "damaris/include/Damaris.h"
#include "damaris/output/configuration.hpp"
#include "damaris/ranks/failure.hpp"
#include "damaris/run/outlets.hpp"
#include "damaris/run/readable.hpp"
#include "damaris/run/xdmf_series.hpp"
#include "damaris/xml/reader.hpp"

namespace tailrace::damaris {
namespace {

constexpr double kEndOfServer = 60;  // seconds from the last client's end to the server's
constexpr double kFarewell = 10;     // seconds in which a server hears that a client has stopped

// Waits until all ranks that write have ended, at most so long; then the first of them reports on stderr the files of
// a mode Collective that a node has not written. Collective over the ranks of this kind. Returns true if there are
// none, as far as this rank knows.
bool report_unfinished(const Model& model, const Ranks& ranks, double seconds) {
  std::vector<size_t> stores = stores_in_use(model);
  std::erase_if(stores, [&](size_t store) { return model.stores[store].mode != FileMode::collective; });
  if (ranks.nodes() < 2 || stores.empty() || !ranks.meet(seconds) || ranks.number() != 0) return true;
  bool none = true;
  for (const size_t store : stores) {
    const auto [directory, prefix] = place_of(model.stores[store]);
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with(prefix + model.name + "_It") || !name.ends_with(".h5.part")) continue;
      none = false;
      say("'" + entry.path().string() + "' is incomplete: not all nodes have written their blocks of the iteration");
    }
  }
  return none;
}

// Reads the description on rank 0 and gives it to all ranks.
Model shared_model(const std::string& file, MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::string text;
  std::string why;
  if (rank == 0) {
    try {
      text = read_text(file);
    } catch (const Error& error) {
      why = error.what();
    }
  }
  int64_t length = rank == 0 && why.empty() ? static_cast<int64_t>(text.size()) : -1;
  MPI_Bcast(&length, 1, MPI_INT64_T, 0, comm);
  if (length < 0 || length > INT32_MAX) throw Failure(DAMARIS_INIT_ERROR, why);
  text.resize(static_cast<size_t>(length));
  MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, 0, comm);
  Report report(file);
  try {
    Model model = read_model(text, report);
    for (const std::string& warning : rank == 0 ? report.warnings() : std::vector<std::string>()) say(warning);
    return model;
  } catch (const Error& error) {
    throw Failure(DAMARIS_INIT_ERROR, rank == 0 ? error.what() : "");
  }
}

std::string address_text(const void* address) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", address);
  return text;
}

}  // namespace

Program::Program(const std::string& file, MPI_Comm comm)
    : model_(shared_model(file, comm)),
      ranks_(comm, static_cast<int>(model_.architecture.dedicated_cores),
             static_cast<int>(model_.architecture.dedicated_nodes)),
      parameters_(model_),
      events_(model_.events) {
  uint64_t number = static_cast<uint64_t>(time(nullptr)) << 22 ^ static_cast<uint64_t>(getpid());
  MPI_Bcast(&number, sizeof number, MPI_BYTE, 0, ranks_.all());
  run_ = std::to_string(number);
  make_slots();
}

void Program::make_slots() {
  size_t of_scripts = 0;
  const std::vector<size_t> stores = stores_in_use(model_);
  std::vector<size_t> next(stores.size(), 0);
  for (size_t index = 0; index < model_.variables.size(); ++index) {
    const Variable& variable = model_.variables[index];
    variables_[variable.name] = index;
    const auto found = std::find(stores.begin(), stores.end(), variable.store);
    const bool stored = found != stores.end();
    const auto store = static_cast<size_t>(found - stores.begin());
    for (int64_t block = 0; block < model_.architecture.domains; ++block) {
      slots_.push_back({ClientBlock(model_.layouts[variable.layout], parameters_), &variable, store,
                        stored ? next[store]++ : 0, stored && variable.enabled, std::nullopt, false, false, nullptr,
                        std::nullopt});
      if (!variable.script.empty() && variable.enabled) slots_.back().script_index = of_scripts++;
    }
  }
}

void Program::need_client() const {
  if (!ranks_.is_client()) throw Failure(DAMARIS_CORE_IS_SERVER, "found a dedicated rank, expected a client");
  if (!started_) throw Failure(DAMARIS_NOT_INITIALIZED, "found a program that has not called damaris_start");
}

Program::Slot& Program::slot_of(const std::string& variable, int32_t block) {
  const auto found = variables_.find(variable);
  if (found == variables_.end()) {
    std::vector<std::string_view> known;
    for (const Variable& one : model_.variables) known.emplace_back(one.name);
    const std::string hint = did_you_mean(variable, known);
    throw Failure(DAMARIS_UNDEFINED_VARIABLE, "found the variable " + in_quotes(variable) +
                                                  ", expected one of the description" +
                                                  (hint.empty() ? "" : "; " + hint));
  }
  const int64_t domains = model_.architecture.domains;
  if (block < 0 || block >= domains) {
    throw Failure(DAMARIS_INVALID_BLOCK, "found block " + std::to_string(block) + " of " + in_quotes(variable) +
                                             ", expected 0 to " + std::to_string(domains - 1));
  }
  return slots_[found->second * static_cast<size_t>(domains) + static_cast<size_t>(block)];
}

// Returns true if the block of the present iteration is to be stored.
bool Program::is_due(const Slot& slot) const {
  return slot.stored && iteration_ % model_.stores[*slot.variable->store].frequency == 0;
}

int Program::start(int* is_client) {
  if (started_) throw Failure(DAMARIS_ALREADY_INITIALIZED, "found a program that has started, expected damaris_stop");
  *is_client = 0;
  const int none = has_dedicated() ? DAMARIS_OK : DAMARIS_NO_SERVER;
  if (!ranks_.forwarder_ranks().empty()) forwarding_ = std::make_unique<Forwarding>(model_, ranks_, run_);
  if (!ranks_.is_client()) {
    serve();
    started_before_ = true;
    forwarding_.reset();
    return none;
  }
  open_clients();
  started_ = true;
  started_before_ = true;
  *is_client = 1;
  return none;
}

// Serves until all clients have stopped.
void Program::serve() {
  if (ranks_.is_of_dedicated_node()) {
    if (ranks_.has_servers()) MPI_Barrier(ranks_.all());
    forwarding_->wait();
    return;
  }
  std::vector<Outlet> outlets = outlets_of(model_, ranks_, forwarding_.get(), started_before_, present());
  const auto others = std::remove_if(outlets.begin(), outlets.end(),
                                     [this](const Outlet& outlet) { return !is_served(model_, outlet, ranks_); });
  outlets.erase(others, outlets.end());
  std::optional<ScriptFiles> files;
  if (const auto scripts = script_outlet_of(model_, ranks_, run_)) {
    files.emplace(model_, ranks_, *scripts, run_);
    outlets.push_back(*scripts);
    outlets.back().logs_output = true;
  }
  if (ranks_.number() == 0 && !started_before_) remove_xdmf_series(model_);
  ServerRank servers(model_, outlets);
  MPI_Barrier(ranks_.all());
  const bool started = listen(events_, ranks_);
  servers.wait(started, kEndOfServer);
  whole_ = report_unfinished(model_, ranks_, kEndOfServer) && whole_;
  write_xdmf_series(model_, ranks_, kEndOfServer);
}

// All clients open, or none.
void Program::open_clients() {
  std::string why;
  if (!ranks_.has_servers() && ranks_.number() == 0 && !started_before_) remove_xdmf_series(model_);
  if (ranks_.has_servers()) MPI_Barrier(ranks_.all());  // the servers are ready
  try {
    for (const Outlet& outlet : outlets_of(model_, ranks_, forwarding_.get(), started_before_, present())) {
      clients_.push_back(std::make_unique<StoreClient>(model_, outlet, ranks_.number(), present()));
    }
    if (const auto outlet = script_outlet_of(model_, ranks_, run_)) {
      scripts_ = std::make_unique<StoreClient>(model_, *outlet, ranks_.number(), present());
    } else if (!model_.scripts.empty() && ranks_.number() == 0) {
      say("damaris_start: scripts do not run, as there are no dedicated cores, or no variables for them");
    }
  } catch (const Failure& failure) {
    why = failure.what();
  }
  signals_ = std::make_unique<Signals>(ranks_);
  int ok = why.empty() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, ranks_.same());
  if (ok == 1) return;
  clients_.clear();
  scripts_.reset();
  if (has_dedicated()) signals_->stop(events_, false, kFarewell);
  forwarding_.reset();
  throw Failure(DAMARIS_INIT_ERROR, why.empty() ? "another client cannot start" : why);
}

int Program::stop() {
  need_client();
  int code = DAMARIS_OK;
  for (const std::unique_ptr<StoreClient>& client : clients_) {
    const int one = client->close();
    if (code == DAMARIS_OK) code = one;
  }
  clients_.clear();
  if (scripts_) {
    const int one = scripts_->close();
    if (code == DAMARIS_OK) code = one;
  }
  scripts_.reset();
  started_ = false;
  for (Slot& slot : slots_) slot.ended = slot.scripted = false;
  if (!ranks_.has_servers()) {
    whole_ = report_unfinished(model_, ranks_, kEndOfServer) && whole_;
    write_xdmf_series(model_, ranks_, kEndOfServer);
  }
  if (!has_dedicated()) return code == DAMARIS_OK ? DAMARIS_NO_SERVER : code;
  signals_->stop(events_, true, kFarewell);
  forwarding_.reset();
  return code;
}

int Program::finalize() {
  if (!started_) return whole_ ? DAMARIS_OK : DAMARIS_FINALIZE_ERROR;
  const int code = stop();
  if (!whole_) return DAMARIS_FINALIZE_ERROR;
  return code == DAMARIS_OK || code == DAMARIS_NO_SERVER ? DAMARIS_OK : DAMARIS_FINALIZE_ERROR;
}

namespace {

[[noreturn]] void refuse_second(const std::string& variable) {
  throw Failure(DAMARIS_ALLOCATION_ERROR,
                "found a second block of " + in_quotes(variable) + ", expected one: it does not vary with time");
}

// No file has elements of a text's type, and nothing says how long a text is.
[[noreturn]] void refuse_texts(const Variable& variable, const Layout& layout) {
  throw Failure(DAMARIS_ALLOCATION_ERROR, "found a block of " + in_quotes(variable.name) + ", whose layout " +
                                              in_quotes(layout.name) +
                                              " has texts of unknown lengths, expected a type of numbers, or char");
}

}  // namespace

int Program::write(const std::string& variable, int32_t block, const void* data) {
  need_client();
  Slot& slot = slot_of(variable, block);
  const Layout& layout = model_.layouts[slot.variable->layout];
  if (slot.variable->refused) refuse_texts(*slot.variable, layout);
  if (data == nullptr && slot.block.shape().elements_in_memory() > 0) return DAMARIS_ARGUMENT_ERROR;
  if (is_due(slot) || (scripts_ && slot.script_index)) check_readable(slot, data);
  const std::optional<Outcome> given = give_to_scripts(slot, iteration_, data);
  if (slot.ended && !given && is_due(slot)) refuse_second(variable);
  if (slot.ended || !is_due(slot)) return given.value_or(Outcome{}).code;
  const Outcome written = clients_[slot.store]->write(slot.index, slot.block, iteration_, data);
  slot.ended = written.done && !slot.variable->time_varying;
  return both(written, given.value_or(Outcome{})).code;
}

// An array that is shorter than its layout says is read past its end. If that would end the program, it is reported.
void Program::check_readable(Slot& slot, const void* data) {
  const BlockShape& shape = slot.block.shape();
  const auto [first, last] = shape.inside_in_memory();
  const auto* const begin = static_cast<const std::byte*>(data) + first * slot.block.element();
  const uint64_t needed = (last - first) * slot.block.element();
  const uint64_t found = readable_bytes(begin, needed);
  if (found == needed) return;
  const Layout& layout = model_.layouts[slot.variable->layout];
  std::string extents;
  for (const uint64_t extent : shape.memory) extents += (extents.empty() ? "" : " x ") + std::to_string(extent);
  throw Failure(DAMARIS_INVALID_DIMENSIONS,
                in_quotes(slot.variable->name) + ": expected an array of " + extents + " elements, " +
                    std::to_string(shape.elements_in_memory() * slot.block.element()) + " bytes, as the layout " +
                    in_quotes(layout.name) + " has with the present parameters; found memory that can be read from " +
                    address_text(data) + " to " + address_text(begin + found) + " only, " +
                    std::to_string(first * slot.block.element() + found) + " bytes");
}

// Returns none if scripts do not get the block, or have it.
std::optional<Outcome> Program::give_to_scripts(Slot& slot, int64_t iteration, const void* data) {
  if (!scripts_ || !slot.script_index || slot.scripted) return std::nullopt;
  const Outcome given = scripts_->write(*slot.script_index, slot.block, iteration, data);
  slot.scripted = given.done && !slot.variable->time_varying;
  return given;
}

int Program::alloc_unstored(Slot& slot, void** memory) {
  const uint64_t bytes = slot.block.shape().elements_in_memory() * slot.block.element();
  slot.unstored.reset(new (std::nothrow) std::byte[bytes]);
  slot.unstored_at = iteration_;
  *memory = slot.unstored.get();
  return slot.unstored ? DAMARIS_OK : DAMARIS_ALLOCATION_ERROR;
}

int Program::alloc(const std::string& variable, int32_t block, void** memory) {
  need_client();
  Slot& slot = slot_of(variable, block);
  *memory = nullptr;
  const Layout& layout = model_.layouts[slot.variable->layout];
  if (layout.type == ElementType::text) refuse_texts(*slot.variable, layout);
  if (!is_due(slot) || slot.ended) return alloc_unstored(slot, memory);
  return clients_[slot.store]->alloc(slot.index, slot.block, iteration_, memory);
}

int Program::commit(const std::string& variable, int32_t block, int64_t iteration) {
  need_client();
  Slot& slot = slot_of(variable, block);
  if (slot.unstored_at == iteration) {
    const std::optional<Outcome> given = give_to_scripts(slot, iteration, slot.unstored.get());
    if (slot.ended && !given) refuse_second(variable);
    return given.value_or(Outcome{}).code;
  }
  if (!slot.stored) return DAMARIS_BLOCK_NOT_FOUND;
  StoreClient& client = *clients_[slot.store];
  const Outcome committed = client.commit(slot.index, slot.block, iteration);
  if (!committed.done) return committed.code;
  slot.ended = !slot.variable->time_varying;
  const std::optional<Outcome> given = give_to_scripts(slot, iteration, client.memory_of(slot.index, iteration));
  return both(committed, given.value_or(Outcome{})).code;
}

int Program::clear(const std::string& variable, int32_t block, int64_t iteration) {
  need_client();
  Slot& slot = slot_of(variable, block);
  if (slot.unstored_at == iteration) {
    slot.unstored.reset();
    slot.unstored_at.reset();
    return DAMARIS_OK;
  }
  return slot.stored ? clients_[slot.store]->clear(slot.index, iteration) : DAMARIS_BLOCK_NOT_FOUND;
}

int Program::move(const std::string& variable, int32_t block, const int64_t* position) {
  Slot& slot = slot_of(variable, block);
  const size_t rank = slot.block.position().size();
  if (std::any_of(position, position + rank, [](int64_t one) { return one < 0; })) {
    throw Failure(DAMARIS_INVALID_DIMENSIONS, "found a negative position of " + in_quotes(variable));
  }
  slot.block.move(position);
  return DAMARIS_OK;
}

ElementType Program::type_of(const std::string& variable) {
  return model_.layouts[slot_of(variable, 0).variable->layout].type;
}

int Program::end_iteration() {
  need_client();
  int code = DAMARIS_OK;
  for (const std::unique_ptr<StoreClient>& client : clients_) {
    const int one = client->end_iteration(iteration_, !has_dedicated());
    if (code == DAMARIS_OK) code = one;
  }
  if (scripts_) {
    const int one = scripts_->end_iteration(iteration_, false);
    if (code == DAMARIS_OK) code = one;
  }
  ++iteration_;
  return code;
}

int Program::signal(const std::string& event) {
  need_client();
  const std::optional<size_t> found = events_.find(event);
  if (!found) {
    throw Failure(DAMARIS_UNDEFINED_ACTION,
                  "found the event " + in_quotes(event) + ", expected one of the description");
  }
  const bool here = events_.at(*found).local || !ranks_.has_servers();
  if (here) return events_.run(*found, ranks_.number(), static_cast<int32_t>(iteration_));
  signals_->raise(events_, *found, iteration_);
  return DAMARIS_OK;
}

int Program::bind(const std::string& event, signal_t function) {
  if (started_) throw Failure(DAMARIS_BIND_ERROR, "found a program that has started, expected damaris_bind before");
  events_.bind(event, function);
  return DAMARIS_OK;
}

}  // namespace tailrace::damaris
