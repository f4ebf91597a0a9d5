// The C ABI: one thin guard for each call (handle.hpp), and no logic of its own. tailrace.h has the contracts.
#include <tailrace/tailrace.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "api/attribute_value.hpp"
#include "api/expect.hpp"
#include "api/handle.hpp"
#include "base/names/status_text.hpp"
#include "base/signals/signal_drain.hpp"
#include "model/wire/file_wire.hpp"
#include "runtime/core/departed_clients.hpp"
#include "runtime/recover.hpp"
#include "runtime/stats.hpp"

using namespace tailrace::impl;  // NOLINT: this file only calls into it

struct tailrace_memory {
  std::unique_ptr<Hold> hold;
};

namespace {

Status null_argument(const char* name) {
  return Status(TAILRACE_INVALID_ARGUMENT, std::string("found NULL, expected ") + name);
}

// Returns true if a block of the variable has bytes, so that its address must not be NULL. An empty array's may be.
bool has_bytes(Session& session, const char* variable) {
  const Result<uint32_t> index = session.client().find(variable);
  return !index.ok() || !session.client().layout_of(index.value()).empty();
}

// Reads an enumeration that comes from C, where it may hold any int. C++ must not read it as an enumeration before it
// is checked.
template <class Enumeration>
int number_in(const Enumeration& value) {
  static_assert(sizeof(Enumeration) == sizeof(int));
  int number = 0;
  std::memcpy(&number, &value, sizeof number);
  return number;
}

// Returns the options up to the caller's struct_size; the rest is zero.
tailrace_open_options known_part(const tailrace_open_options* options) {
  tailrace_open_options known{};
  if (options == nullptr) return known;
  std::memcpy(&known, options, std::min(options->struct_size, sizeof known));
  return known;
}

Result<ConfigInput> input_of(const char* config, int client, const tailrace_open_options* options) {
  if (client < 0) {
    return Status(TAILRACE_INVALID_ARGUMENT, "found client " + std::to_string(client) + ", expected 0 or more");
  }
  const tailrace_open_options known = known_part(options);
  if (config == nullptr && known.config_text == nullptr) return null_argument("the name of a configuration file");
  ConfigInput input;
  input.file = config ? config : "(text)";
  input.client = client;
  if (known.config_text) input.text = known.config_text;
  if (known.path) input.path_override = known.path;
  if (known.files) input.files_override = known.files;
  input.flush_waits = known.flush_waits != 0;
  if (known.python_environment) input.program_python = known.python_environment;
  if (known.parameter_count > 0 && known.parameters == nullptr) return null_argument("parameters");
  for (size_t i = 0; i < known.parameter_count; ++i) {
    if (known.parameters[i].name == nullptr) return null_argument("the name of a parameter");
    input.parameters.emplace_back(known.parameters[i].name, known.parameters[i].value);
  }
  if (known.real_parameter_count > 0 && known.real_parameters == nullptr) return null_argument("real_parameters");
  for (size_t i = 0; i < known.real_parameter_count; ++i) {
    if (known.real_parameters[i].name == nullptr) return null_argument("the name of a parameter");
    input.parameters.emplace_back(known.real_parameters[i].name, known.real_parameters[i].value);
  }
  return input;
}

void tell(const Mistake& mistake, tailrace_mistake_callback callback, void* context) {
  tailrace_mistake told = {};
  told.struct_size = sizeof told;
  told.file = mistake.file.c_str();
  told.line = mistake.line;
  told.column = mistake.column;
  told.key = mistake.key.c_str();
  told.found = mistake.found.c_str();
  told.expected = mistake.expected.c_str();
  told.hint = mistake.hint.c_str();
  told.message = mistake.message.c_str();
  callback(context, &told);
}

// `write` returns a Result with the ticket.
template <class Write>
tailrace_status write_for_ticket(tailrace_file file, size_t count, const tailrace_extent* extents,
                                 tailrace_ticket* ticket, const Write& write) {
  if (ticket != nullptr) *ticket = {};
  return guarded(file.client, Tells::earlier_failures, [&](Session& session) {
    if (ticket == nullptr) return null_argument("ticket");
    if (extents == nullptr && count > 0) return null_argument("extents");
    const Result<uint64_t> id = write(session.client().files());
    if (id.ok() && id.value() != kNoTicket) *ticket = {file.client, id.value()};
    return id.status();
  });
}

Nanoseconds in_nanoseconds(double seconds) {
  return std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double>(seconds));
}

Status check_patience(double seconds) {
  constexpr double kMost = 1e9;
  if (seconds >= 0 && seconds <= kMost) return {};
  return Status(TAILRACE_INVALID_ARGUMENT,
                "found a patience of " + std::to_string(seconds) + ", expected seconds, from 0 to 1e9");
}

// Lets a signal wait until everything that the client has handed over is written. While another thread is in a call
// on it, its turn has not come.
void flush_at_signals(tailrace_client* client) {
  const auto flush = [client] {
    while (tailrace_flush(client) == TAILRACE_BUSY) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  drain_at_signals(flush, Nanoseconds(0));
}

template <class Parameter>
tailrace_status set_parameters(tailrace_client* client, const Parameter* parameters, size_t count) {
  return guarded(client, Tells::earlier_failures, [&](Session& session) {
    if (count > 0 && parameters == nullptr) return null_argument("parameters");
    std::vector<std::pair<std::string_view, Number>> values;
    for (size_t i = 0; i < count; ++i) {
      if (parameters[i].name == nullptr) return null_argument("the name of a parameter");
      values.emplace_back(parameters[i].name, parameters[i].value);
    }
    return session.client().set_parameters(values);
  });
}

}  // namespace

extern "C" {

tailrace_status tailrace_open(const char* config, int client, tailrace_client** out) {
  return tailrace_open_with(config, client, nullptr, out);
}

tailrace_status tailrace_open_with(const char* config, int client, const tailrace_open_options* options,
                                   tailrace_client** out) {
  return guarded([&] {
    if (out == nullptr) return null_argument("where to put the handle");
    *out = nullptr;
    const Result<ConfigInput> input = input_of(config, client, options);
    if (!input.ok()) return input.status();
    auto session = Session::open(input.value());
    if (!session.ok()) return session.status();
    tailrace_client* const made = new_handle(std::move(session).value());
    add_client_patience(in_nanoseconds(made->session->config().place.patience));
    if (made->session->config().drains_at_signals) flush_at_signals(made);
    *out = made;
    return Status();
  });
}

tailrace_status tailrace_close(tailrace_client* client) {
  const auto finish = [](Session& session) {
    session.finish();
    return Status();
  };
  return guarded(client, Tells::failures_so_far, finish, Leaves::client_closed);
}

tailrace_status tailrace_write(tailrace_client* client, const char* variable, int64_t iteration, const void* data) {
  return guarded(client, Tells::earlier_failures, [&](Session& session) {
    if (variable == nullptr) return null_argument("the name of a variable");
    if (data == nullptr && has_bytes(session, variable)) return null_argument("the bytes of a block");
    return session.client().write(variable, iteration, data);
  });
}

tailrace_status tailrace_alloc(tailrace_client* client, const char* variable, int64_t iteration, void** data) {
  if (data != nullptr) *data = nullptr;
  return guarded(client, Tells::earlier_failures, [&](Session& session) {
    if (variable == nullptr) return null_argument("the name of a variable");
    if (data == nullptr) return null_argument("where to put the address");
    const Result<void*> memory = session.client().alloc(variable, iteration);
    if (memory.ok()) *data = memory.value();
    return memory.status();
  });
}

tailrace_status tailrace_alloc_kept(tailrace_client* client, const char* variable, int64_t iteration, void** data,
                                    tailrace_memory** memory) {
  if (data != nullptr) *data = nullptr;
  if (memory != nullptr) *memory = nullptr;
  return guarded(client, Tells::earlier_failures, [&](Session& session) {
    if (variable == nullptr) return null_argument("the name of a variable");
    if (data == nullptr) return null_argument("where to put the address");
    if (memory == nullptr) return null_argument("where to put what keeps the memory");
    const Result<void*> address = session.client().alloc(variable, iteration);
    if (!address.ok()) return address.status();
    Result<std::unique_ptr<Hold>> hold = session.client().keep(variable, iteration);
    if (!hold.ok()) return hold.status();
    *memory = new tailrace_memory{std::move(hold).value()};
    *data = address.value();
    return Status();
  });
}

void tailrace_release(tailrace_memory* memory) { delete memory; }

tailrace_status tailrace_commit(tailrace_client* client, const char* variable, int64_t iteration) {
  return guarded(client, Tells::earlier_failures, [&](Session& session) {
    if (variable == nullptr) return null_argument("the name of a variable");
    return session.client().commit(variable, iteration);
  });
}

tailrace_status tailrace_borrow(tailrace_client* client, const char* variable, int64_t iteration, const void* data,
                                tailrace_ticket* ticket) {
  if (ticket != nullptr) *ticket = {nullptr, 0};
  return guarded(client, Tells::earlier_failures, [&](Session& session) {
    if (variable == nullptr) return null_argument("the name of a variable");
    if (data == nullptr && has_bytes(session, variable)) return null_argument("the bytes of a block");
    if (ticket == nullptr) return null_argument("where to put the ticket");
    const Result<uint64_t> id = session.client().borrow(variable, iteration, data);
    if (id.ok() && id.value() != kNoTicket) *ticket = {client, id.value()};
    return id.status();
  });
}

tailrace_status tailrace_end_iteration(tailrace_client* client, int64_t iteration) {
  return guarded(client, Tells::earlier_failures,
                 [&](Session& session) { return session.client().end_iteration(iteration); });
}

tailrace_status tailrace_end_iteration_at(tailrace_client* client, int64_t iteration, double time, double dt) {
  return guarded(client, Tells::earlier_failures, [&](Session& session) {
    const auto given = [](double value) { return std::isnan(value) ? std::nullopt : std::optional(value); };
    return session.client().end_iteration(iteration, given(time), given(dt));
  });
}

tailrace_status tailrace_attribute(tailrace_client* client, const char* variable, int64_t iteration, const char* name,
                                   tailrace_type type, size_t count, const void* data) {
  return guarded(client, Tells::earlier_failures, [&](Session& session) {
    if (name == nullptr) return null_argument("the name of an attribute");
    if (data == nullptr) return null_argument("the value of an attribute");
    const Result<AttributeValue> value = attribute_value(number_in(type), count, data);
    if (!value.ok()) return value.status();
    std::optional<std::string_view> of;
    if (variable != nullptr) of = variable;
    return session.client().attribute(of, iteration, name, value.value());
  });
}

tailrace_status tailrace_signal(tailrace_client* client, const char* event, int64_t iteration) {
  return guarded(client, Tells::earlier_failures, [&](Session& session) {
    if (event == nullptr) return null_argument("the name of an event");
    return session.client().signal(event, iteration);
  });
}

tailrace_status tailrace_wait(tailrace_ticket ticket, int64_t timeout_ms) {
  if (ticket.client == nullptr && ticket.id == 0) return TAILRACE_OK;
  return guarded(ticket.client, Tells::failures_so_far, [&](Session& session) {
    std::optional<std::chrono::milliseconds> timeout;
    if (timeout_ms >= 0) timeout = std::chrono::milliseconds(timeout_ms);
    return session.client().wait(ticket.id, timeout);
  });
}

tailrace_status tailrace_test(tailrace_ticket ticket, int* ended) {
  if (ended == nullptr) return guarded([] { return null_argument("where to put whether it has ended"); });
  *ended = 1;
  if (ticket.client == nullptr && ticket.id == 0) return TAILRACE_OK;
  const tailrace_status status = guarded(ticket.client, Tells::failures_so_far, [&](Session& session) {
    const Status end = session.client().wait(ticket.id, std::chrono::milliseconds(0));
    if (end.code() != TAILRACE_TIMEOUT) return end;
    *ended = 0;
    return Status();
  });
  if (status == TAILRACE_BUSY || status == TAILRACE_FORKED) *ended = 0;  // the ticket was not looked at
  return status;
}

tailrace_status tailrace_flush(tailrace_client* client) {
  return guarded(client, Tells::failures_so_far, [](Session& session) { return session.client().flush(); });
}

tailrace_status tailrace_iflush(tailrace_client* client, tailrace_ticket* ticket) {
  if (ticket != nullptr) *ticket = {};
  return guarded(client, Tells::earlier_failures, [&](Session& session) {
    if (ticket == nullptr) return null_argument("ticket");
    const Result<uint64_t> id = session.client().iflush();
    if (id.ok()) *ticket = {client, id.value()};
    return id.status();
  });
}

tailrace_status tailrace_read(tailrace_client* client, const char* variable, int64_t iteration, void* data) {
  return guarded(client, Tells::failures_so_far, [&](Session& session) {
    if (variable == nullptr) return null_argument("the name of a variable");
    if (data == nullptr && has_bytes(session, variable)) return null_argument("where to put the block");
    return session.client().read(variable, iteration, data);
  });
}

tailrace_status tailrace_last_iteration(tailrace_client* client, int64_t* iteration) {
  if (iteration != nullptr) *iteration = -1;
  return guarded(client, Tells::only_its_own, [&](Session& session) {
    if (iteration == nullptr) return null_argument("where to put the iteration");
    const Result<LastIteration>& last = session.last_iteration();
    if (last.ok()) *iteration = last.value().number;
    return last.status();
  });
}

tailrace_status tailrace_last_time(tailrace_client* client, double* time) {
  if (time != nullptr) *time = std::numeric_limits<double>::quiet_NaN();
  return guarded(client, Tells::only_its_own, [&](Session& session) {
    if (time == nullptr) return null_argument("where to put the time");
    const Result<LastIteration>& last = session.last_iteration();
    if (last.ok()) *time = last.value().time;
    return last.status();
  });
}

tailrace_status tailrace_file_open(tailrace_client* client, const char* path, int mode, tailrace_file* out) {
  if (out != nullptr) *out = {nullptr, 0};
  return guarded(client, Tells::only_its_own, [&](Session& session) {
    if (path == nullptr) return null_argument("the path of a file");
    if (out == nullptr) return null_argument("where to put the file");
    const Result<uint32_t> file = session.client().files().open(path, mode);
    if (file.ok()) *out = {client, file.value()};
    return file.status();
  });
}

tailrace_status tailrace_file_write(tailrace_file file, size_t count, const tailrace_extent* extents,
                                    const void* data) {
  return guarded(file.client, Tells::earlier_failures, [&](Session& session) {
    if (extents == nullptr && count > 0) return null_argument("extents");
    return session.client().files().write(file.id, {extents, count}, data);
  });
}

tailrace_status tailrace_file_iwrite(tailrace_file file, size_t count, const tailrace_extent* extents,
                                     const void* data, tailrace_ticket* ticket) {
  return write_for_ticket(file, count, extents, ticket, [&](ClientFiles& files) {
    return files.iwrite(file.id, {extents, count}, data);
  });
}

tailrace_status tailrace_file_borrow(tailrace_file file, size_t count, const tailrace_extent* extents,
                                     const void* data, tailrace_ticket* ticket) {
  return write_for_ticket(file, count, extents, ticket, [&](ClientFiles& files) {
    return files.borrow(file.id, {extents, count}, data);
  });
}

tailrace_status tailrace_file_read(tailrace_file file, size_t count, const tailrace_extent* extents, void* data) {
  return guarded(file.client, Tells::failures_so_far, [&](Session& session) {
    if (extents == nullptr && count > 0) return null_argument("extents");
    return session.client().files().read(file.id, {extents, count}, data);
  });
}

tailrace_status tailrace_file_sync(tailrace_file file) {
  return guarded(file.client, Tells::failures_so_far,
                 [&](Session& session) { return session.client().files().sync(file.id); });
}

tailrace_status tailrace_file_size(tailrace_file file, uint64_t* bytes) {
  if (bytes != nullptr) *bytes = 0;
  return guarded(file.client, Tells::only_its_own, [&](Session& session) {
    if (bytes == nullptr) return null_argument("bytes");
    const Result<uint64_t> size = session.client().files().size(file.id);
    if (size.ok()) *bytes = size.value();
    return size.status();
  });
}

tailrace_status tailrace_file_truncate(tailrace_file file, uint64_t bytes) {
  return guarded(file.client, Tells::only_its_own,
                 [&](Session& session) { return session.client().files().truncate(file.id, bytes); });
}

tailrace_status tailrace_file_allocate(tailrace_file file, uint64_t offset, uint64_t bytes) {
  return guarded(file.client, Tells::only_its_own,
                 [&](Session& session) { return session.client().files().allocate(file.id, offset, bytes); });
}

tailrace_status tailrace_file_remove(tailrace_client* client, const char* path) {
  return guarded(client, Tells::only_its_own, [&](Session& session) {
    if (path == nullptr) return null_argument("a path");
    return session.client().files().remove(path);
  });
}

tailrace_status tailrace_file_close(tailrace_file file) {
  return guarded(file.client, Tells::failures_so_far,
                 [&](Session& session) { return session.client().files().close(file.id); });
}

tailrace_status tailrace_file_iclose(tailrace_file file, tailrace_ticket* ticket) {
  if (ticket != nullptr) *ticket = {};
  return guarded(file.client, Tells::earlier_failures, [&](Session& session) {
    if (ticket == nullptr) return null_argument("ticket");
    const Result<uint64_t> id = session.client().files().iclose(file.id);
    if (id.ok()) *ticket = {file.client, id.value()};
    return id.status();
  });
}

tailrace_status tailrace_file_give_up(tailrace_file file) {
  return guarded(file.client, Tells::earlier_failures,
                 [&](Session& session) { return session.client().files().give_up(file.id); });
}

tailrace_status tailrace_file_seal(tailrace_file file, uint64_t offset, size_t bytes, const void* seal) {
  return guarded(file.client, Tells::only_its_own, [&](Session& session) {
    if (seal == nullptr) return null_argument("seal");
    return session.client().files().seal(file.id, offset, {static_cast<const std::byte*>(seal), bytes});
  });
}

tailrace_status tailrace_variable(tailrace_client* client, const char* variable, tailrace_variable_info* out) {
  return guarded(client, Tells::only_its_own, [&](Session& session) {
    if (variable == nullptr) return null_argument("the name of a variable");
    const Result<uint32_t> index = session.client().find(variable);
    if (!index.ok()) return index.status();
    const tailrace_variable_info info = describe_variable(session.client().layout_of(index.value()));
    return copy_out(out, &info, sizeof info) ? Status() : null_argument("a structure with its struct_size");
  });
}

tailrace_status tailrace_variable_at(tailrace_client* client, size_t index, tailrace_variable_texts* out) {
  return guarded(client, Tells::only_its_own, [&](Session& session) {
    const std::vector<Variable>& variables = session.config().variables;
    if (index >= variables.size()) {
      return Status(TAILRACE_NOT_FOUND, "found index " + std::to_string(index) + ", expected less than " +
                                            std::to_string(variables.size()) + ", the number of variables");
    }
    const Variable& one = variables[index];
    const tailrace_variable_texts texts{sizeof texts, one.name.c_str(), one.unit.symbol.c_str(),
                                        one.description.c_str()};
    return copy_out(out, &texts, sizeof texts) ? Status() : null_argument("a structure with its struct_size");
  });
}

tailrace_status tailrace_expect(tailrace_client* client, const char* variable, tailrace_type type, int rank,
                                const uint64_t* shape) {
  return guarded(client, Tells::only_its_own, [&](Session& session) {
    if (variable == nullptr) return null_argument("the name of a variable");
    if (rank < 0 || (rank > 0 && shape == nullptr)) return null_argument("a shape of `rank` entries");
    const Result<uint32_t> index = session.client().find(variable);
    if (!index.ok()) return index.status();
    return expect(session.config().variables[index.value()], session.client().layout_of(index.value()),
                  number_in(type), {shape, static_cast<size_t>(rank)});
  });
}

tailrace_status tailrace_set_parameters(tailrace_client* client, const tailrace_parameter* parameters, size_t count) {
  return set_parameters(client, parameters, count);
}

tailrace_status tailrace_set_real_parameters(tailrace_client* client, const tailrace_real_parameter* parameters,
                                             size_t count) {
  return set_parameters(client, parameters, count);
}

tailrace_status tailrace_enable(tailrace_client* client, const char* variable, int on) {
  return guarded(client, Tells::earlier_failures, [&](Session& session) {
    if (variable == nullptr) return null_argument("the name of a variable");
    return session.client().enable(variable, on != 0);
  });
}

tailrace_status tailrace_get_stats(tailrace_client* client, tailrace_stats* out) {
  return guarded(client, Tells::only_its_own, [&](Session& session) {
    const tailrace_stats stats = gather_stats(session);
    return copy_out(out, &stats, sizeof stats) ? Status() : null_argument("a structure with its struct_size");
  });
}

tailrace_status tailrace_get_variable_stats(tailrace_client* client, const char* variable,
                                            tailrace_variable_stats* out) {
  return guarded(client, Tells::only_its_own, [&](Session& session) {
    if (variable == nullptr) return null_argument("the name of a variable");
    const Result<uint32_t> index = session.client().find(variable);
    if (!index.ok()) return index.status();
    const tailrace_variable_stats stats = gather_stats(session, index.value());
    return copy_out(out, &stats, sizeof stats) ? Status() : null_argument("a structure with its struct_size");
  });
}

tailrace_status tailrace_get_file_stats(tailrace_client* client, const char* path, tailrace_file_stats* out) {
  return guarded(client, Tells::only_its_own, [&](Session& session) {
    const auto roots = session.config().storage.file_roots();
    const Result<std::string> plain = path == nullptr ? std::string() : plain_file_path(roots, path);
    if (!plain.ok()) return plain.status();
    const std::optional<tailrace_file_stats> stats = gather_file_stats(session, plain.value());
    if (!stats) {
      const std::string what = path == nullptr ? "files of iterations" : "the raw file '" + plain.value() + "'";
      return Status(TAILRACE_NOT_FOUND, "get_file_stats: nothing is known of " + what);
    }
    return copy_out(out, &*stats, sizeof *stats) ? Status() : null_argument("a structure with its struct_size");
  });
}

tailrace_status tailrace_last_error(tailrace_client* client, tailrace_error* out) {
  if (client == nullptr || !client->is_of_this_process()) return thread_error().get(out);
  if (client->inside.exchange(true, std::memory_order_acquire)) return TAILRACE_BUSY;
  const tailrace_status status = client->error.get(out);
  client->inside.store(false, std::memory_order_release);
  return status;
}

tailrace_status tailrace_next_error(tailrace_client* client, tailrace_error* out) {
  if (client == nullptr) return guarded([] { return null_argument("a client"); });
  if (!client->is_of_this_process()) return refuse_in_child(*client);
  if (client->inside.exchange(true, std::memory_order_acquire)) return TAILRACE_BUSY;
  const tailrace_status status = next_error(*client, out);
  client->inside.store(false, std::memory_order_release);
  return status;
}

tailrace_status tailrace_describe(tailrace_client* client, const char** text) {
  return guarded(client, Tells::only_its_own, [&](Session& session) {
    if (text == nullptr) return null_argument("where to put the text");
    *text = session.description().c_str();
    return Status();
  });
}

const char* tailrace_status_text(tailrace_status status) { return status_text(number_in(status)); }

const char* tailrace_version(void) { return TAILRACE_VERSION_STRING; }

tailrace_status tailrace_check(const char* config, const tailrace_open_options* options) {
  return guarded([&] {
    const Result<ConfigInput> input = input_of(config, 0, options);
    if (!input.ok()) return input.status();
    return read_config(input.value()).status();
  });
}

tailrace_status tailrace_check_all(const char* config, const tailrace_open_options* options,
                                   tailrace_mistake_callback callback, void* context) {
  return guarded([&] {
    const Result<ConfigInput> input = input_of(config, 0, options);
    if (!input.ok()) return input.status();
    std::vector<Mistake> mistakes;
    Status status = read_config(input.value(), &mistakes).status();
    for (const Mistake& mistake : mistakes) {
      if (callback != nullptr) tell(mistake, callback, context);
    }
    return status;
  });
}

tailrace_status tailrace_recover(const char* directory, int apply, tailrace_recover_callback callback,
                                 void* context) {
  return guarded([&] {
    if (directory == nullptr) return null_argument("a directory");
    return recover(directory, apply != 0, [&](const Leftover& leftover) {
      if (callback == nullptr) return;
      const char* const message = leftover.status.ok() ? "" : leftover.status.fault().message.c_str();
      callback(context, leftover.file.c_str(), leftover.kind, leftover.done ? 1 : 0, leftover.status.code(), message);
    });
  });
}

tailrace_status tailrace_wait_for_departed(int process, double patience) {
  return guarded([&] {
    const Status valid = check_patience(patience);
    return valid.ok() ? wait_for_departed_client(process, in_nanoseconds(patience)) : valid;
  });
}

tailrace_status tailrace_drain_at_signals(tailrace_drain_callback drain, void* context, double patience) {
  return guarded([&] {
    if (drain == nullptr) return null_argument("a function");
    const Status valid = check_patience(patience);
    if (valid.ok()) drain_at_signals([drain, context] { drain(context); }, in_nanoseconds(patience));
    return valid;
  });
}

tailrace_status tailrace_drain_now() {
  return guarded([] {
    drain_now();
    return Status();
  });
}

}  // extern "C"
