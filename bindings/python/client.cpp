#include "client.hpp"

#include <nanobind/stl/string.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "attribute.hpp"
#include "failure.hpp"
#include "file.hpp"
#include "parameters.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tailrace_python {

namespace {

// A wait is divided into pieces of this length, so that Ctrl-C interrupts it.
constexpr int64_t kWaitPieceMs = 200;

// Calls the function without the GIL.
template <class Function>
tailrace_status without_gil(Function function) {
  nb::gil_scoped_release release;
  return function();
}

// The base of arrays from alloc. It lives until the last array over the memory is gone, views included, and keeps the
// client until then.
struct Kept {
  nb::object client;
  tailrace_memory* memory;
  ~Kept() { tailrace_release(memory); }
};

nb::capsule owner_of(nb::handle client, tailrace_memory* memory) {
  return nb::capsule(new Kept{nb::borrow(client), memory},
                     [](void* kept) noexcept { delete static_cast<Kept*>(kept); });
}

// Says whether an array can be written to, given a weak reference to it.
void set_writable(const nb::object& weak, bool writable) {
  const nb::object array = weak();
  if (!array.is_none()) array.attr("setflags")("write"_a = writable);
}

}  // namespace

Inside::Inside(const Client& client) : client_(client) {
  // In a child, the thread inside is the parent's; the call itself will report that.
  if (client.inside_ && !client.forked()) check(client.handle_, TAILRACE_BUSY);
  client.inside_ = true;
}

Inside::~Inside() { client_.inside_ = false; }

// ---- Loan --------------------------------------------------------------------------------------------------------

// Returns true while the interpreter ends.
static bool ends() {
#ifdef Py_LIMITED_API
  PyObject* const asked = PySys_GetObject("is_finalizing");  // gone late in the end
  if (asked == nullptr) return true;
  const nb::object answer = nb::steal(PyObject_CallNoArgs(asked));
  return !answer.is_valid() || PyObject_IsTrue(answer.ptr()) != 0;
#elif PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

void Loan::begin() {
  const nb::module_ lending = nb::module_::import_("tailrace._lending");
  nb::object unlock = lending.attr("unlock");
  lending.attr("lock")(array_);
  unlock_ = std::move(unlock);
}

void Loan::end() {
  ended_ = true;
  const nb::error_scope kept;  // an exception may be on its way
  const nb::object unlock = std::move(unlock_);
  // When the interpreter ends, its modules are gone, and the array is gone.
  if (!unlock.is_valid() || ends()) return;
  try {
    unlock(array_);
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("giving a lent array back");
  }
}

// ---- Ticket ------------------------------------------------------------------------------------------------------

Ticket::Ticket(nb::object owner, std::shared_ptr<Loan> loan) : owner_(std::move(owner)), loan_(std::move(loan)) {}

bool Ticket::wait(std::optional<double> timeout) {
  if (timeout && std::isnan(*timeout)) throw nb::value_error("timeout: expected seconds, found nan");
  const double seconds = std::clamp(timeout.value_or(0), 0.0, 1e9);
  const Inside inside(client());
  int64_t left_ms = timeout ? static_cast<int64_t>(std::ceil(seconds * 1e3)) : INT64_MAX;
  for (;;) {
    const int64_t piece = std::min(left_ms, kWaitPieceMs);
    const tailrace_status status = without_gil([&] { return tailrace_wait(loan_->ticket, piece); });
    if (status != TAILRACE_TIMEOUT) return settle(status, true);
    if (timeout) left_ms -= piece;
    if (left_ms <= 0) return false;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
}

bool Ticket::test() {
  const Inside inside(client());
  int ended = 0;
  const tailrace_status status = tailrace_test(loan_->ticket, &ended);
  return settle(status, ended != 0);
}

const Client& Ticket::client() const { return *nb::inst_ptr<Client>(owner_); }

std::string Ticket::text() const {
  return "<tailrace.Ticket of '" + loan_->variable + "', iteration " + std::to_string(loan_->iteration) +
         (loan_->ended() ? ": ended>" : ": lent>");
}

bool Ticket::settle(tailrace_status status, bool ended) {
  // These statuses say nothing about the request: the array stays lent.
  if (status == TAILRACE_BUSY || status == TAILRACE_FORKED) ended = false;
  if (ended) loan_->end();
  check(loan_->ticket.client, status);
  return ended;
}

// ---- Client ------------------------------------------------------------------------------------------------------

Client::~Client() {
  if (closed_ || forked()) return;
  const nb::error_scope kept;  // an exception may be on its way
  PyErr_WarnEx(PyExc_ResourceWarning, "a tailrace client was not closed", 1);
  PyErr_Clear();
  try {
    close();
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("closing a tailrace client that was not closed");
  }
}

bool Client::write(const std::string& variable, const Integer& number, nb::handle array, nb::handle fill_value) {
  const Inside inside(*this);
  const int64_t iteration = number.value("write", "iteration");
  const nb::object usable = in_host_memory(array, fill_value);
  const Buffer buffer(usable, Buffer::Use::read);
  buffer.expect(handle_, "write", variable);
  return accepted(handle_,
                  without_gil([&] { return tailrace_write(handle_, c_text(variable), iteration, buffer.data()); }));
}

nb::object Client::alloc(nb::pointer_and_handle<Client> self, const std::string& variable, const Integer& number) {
  Client& client = *self.p;
  const Inside inside(client);
  const int64_t iteration = number.value("alloc", "iteration");
  const tailrace_variable_info info = client.info(variable);
  void* data = nullptr;
  tailrace_memory* memory = nullptr;
  const tailrace_status status =
      without_gil([&] { return tailrace_alloc_kept(client.handle_, c_text(variable), iteration, &data, &memory); });
  if (status != TAILRACE_OK && status != TAILRACE_EARLIER_FAILURE) check(client.handle_, status);
  std::optional<Failure> earlier;
  if (status != TAILRACE_OK) earlier = last_failure(client.handle_, status);
  const nb::capsule owner = owner_of(self.h, memory);
  nb::object array = client.view_of(variable, iteration);
  if (array.is_none()) {
    array = array_over(data, info, owner);
    client.views_.push_back({variable, iteration, nb::weakref(array)});
  }
  if (earlier) raise(*earlier, {"array", array});
  return array;
}

bool Client::commit(const std::string& variable, const Integer& number) {
  const Inside inside(*this);
  const int64_t iteration = number.value("commit", "iteration");
  const auto its = [&](const View& view) { return view.iteration == iteration && view.variable == variable; };
  // First, as other threads run meanwhile.
  set_writable_if(its, false);
  const tailrace_status status = without_gil([&] { return tailrace_commit(handle_, c_text(variable), iteration); });
  if (status == TAILRACE_OK || status == TAILRACE_EARLIER_FAILURE || status == TAILRACE_DROPPED) {
    std::erase_if(views_, its);
  } else {
    set_writable_if(its, true);
  }
  return accepted(handle_, status);
}

nb::object Client::borrow(nb::pointer_and_handle<Client> self, const std::string& variable, const Integer& number,
                          nb::handle array, nb::handle fill_value) {
  Client& client = *self.p;
  const Inside inside(client);
  const int64_t iteration = number.value("borrow", "iteration");
  auto loan = std::make_shared<Loan>(in_host_memory(array, fill_value), variable, iteration);
  loan->buffer.expect(client.handle_, "borrow", variable);
  // Make the ticket first: nothing may fail between lending the memory and holding it.
  nb::object ticket = nb::cast(Ticket(nb::borrow(self.h), loan));
  client.loans_.reserve(client.loans_.size() + 1);
  loan->begin();
  const tailrace_status status = without_gil([&] {
    return tailrace_borrow(client.handle_, c_text(variable), iteration, loan->buffer.data(), &loan->ticket);
  });
  if (loan->ticket.client) {
    client.loans_.push_back(loan);
  } else {
    loan->end();
  }
  if (status != TAILRACE_OK) {
    raise(last_failure(client.handle_, status), {"ticket", loan->ticket.client ? ticket : nb::none()});
  }
  client.release_ended(ticket);
  return ticket;
}

bool Client::end_iteration(const Integer& number, std::optional<double> time, std::optional<double> dt) {
  const Inside inside(*this);
  const int64_t iteration = number.value("end_iteration", "iteration");
  for (const std::optional<double>& given : {time, dt}) {
    // NaN stands for nothing given in C.
    if (given && std::isnan(*given))
      throw nb::value_error("end_iteration: expected numbers for time and dt, found nan");
  }
  const bool kept = accepted(handle_, without_gil([&] {
                               return tailrace_end_iteration_at(handle_, iteration, time.value_or(std::nan("")),
                                                                dt.value_or(std::nan("")));
                             }));
  if (!kept) withdraw([&](const View& view) { return view.iteration == iteration; });
  return kept;
}

bool Client::attribute(const Integer& number, const std::string& name, nb::handle given,
                       const std::optional<std::string>& variable) {
  const Inside inside(*this);
  const int64_t iteration = number.value("attribute", "iteration");
  const AttributeOfPython value(name, given);
  return accepted(handle_, without_gil([&] {
                    return tailrace_attribute(handle_, variable ? c_text(*variable) : nullptr, iteration,
                                              c_text(name), value.type(), value.count(), value.data());
                  }));
}

bool Client::signal(const std::string& event, const Integer& number) {
  const Inside inside(*this);
  const int64_t iteration = number.value("signal", "iteration");
  return accepted(handle_, without_gil([&] { return tailrace_signal(handle_, c_text(event), iteration); }));
}

void Client::set_parameters(const std::vector<std::pair<std::string, nb::object>>& values) {
  const Inside inside(*this);
  const GivenParameters given("set_parameters", values);
  // Two calls of C. What the first one reports of earlier blocks is raised when both are done.
  std::optional<Failure> earlier;
  const auto set = [&](tailrace_status status) {
    if (status == TAILRACE_OK) return;
    const Failure failure = last_failure(handle_, status);
    if (status != TAILRACE_EARLIER_FAILURE) {
      const nb::object refusal = make_exception(failure);
      if (earlier) refusal.attr("others") = nb::make_tuple(make_exception(*earlier));
      raise(refusal);
    }
    if (!earlier) earlier = failure;
  };
  if (!given.wholes.empty() || given.reals.empty()) {
    set(without_gil([&] { return tailrace_set_parameters(handle_, given.wholes.data(), given.wholes.size()); }));
  }
  if (!given.reals.empty()) {
    set(without_gil([&] { return tailrace_set_real_parameters(handle_, given.reals.data(), given.reals.size()); }));
  }
  if (earlier) raise(*earlier);
}

void Client::enable(const std::string& variable, bool on) {
  const Inside inside(*this);
  check(handle_, without_gil([&] { return tailrace_enable(handle_, c_text(variable), on ? 1 : 0); }));
}

void Client::flush() {
  const Inside inside(*this);
  check(handle_, without_gil([&] { return tailrace_flush(handle_); }));
  release_ended();
}

nb::object Client::read(const std::string& variable, const Integer& number, nb::object out) {
  const Inside inside(*this);
  const int64_t iteration = number.value("read", "iteration");
  if (out.is_none()) out = empty_array(info(variable));
  const Buffer buffer(out, Buffer::Use::write);
  buffer.expect(handle_, "read", variable);
  check(handle_, without_gil([&] { return tailrace_read(handle_, c_text(variable), iteration, buffer.data()); }),
        out);
  return out;
}

nb::object Client::open_file(nb::pointer_and_handle<Client> self, const std::string& path, const std::string& mode,
                             bool immediate) {
  Client& client = *self.p;
  const Inside inside(client);
  int flags = 0;
  if (mode == "read") flags = TAILRACE_FILE_READ;
  if (mode == "write") flags = TAILRACE_FILE_WRITE;
  if (mode == "truncate") flags = TAILRACE_FILE_WRITE | TAILRACE_FILE_TRUNCATE;
  if (flags == 0) {
    throw nb::value_error(("mode: expected 'read', 'write' or 'truncate', found '" + mode + "'").c_str());
  }
  if (immediate) flags |= TAILRACE_FILE_IMMEDIATE;
  tailrace_file file{};
  const tailrace_status status =
      without_gil([&] { return tailrace_file_open(client.handle_, c_text(path), flags, &file); });
  check(client.handle_, status);
  return nb::cast(File(nb::borrow(self.h), file, path));
}

std::optional<int64_t> Client::last_iteration() const {
  const Inside inside(*this);
  int64_t iteration = -1;
  check(handle_, tailrace_last_iteration(handle_, &iteration));
  return iteration < 0 ? std::nullopt : std::optional(iteration);
}

std::optional<double> Client::last_time() const {
  const Inside inside(*this);
  double time = 0;
  check(handle_, tailrace_last_time(handle_, &time));
  return std::isnan(time) ? std::nullopt : std::optional(time);
}

void Client::remove_file(const std::string& path) {
  const Inside inside(*this);
  check(handle_, without_gil([&] { return tailrace_file_remove(handle_, c_text(path)); }));
}

nb::object Client::stats() const {
  const Inside inside(*this);
  tailrace_stats stats{};
  stats.struct_size = sizeof stats;
  check(handle_, tailrace_get_stats(handle_, &stats));
  nb::object result = nb::module_::import_("tailrace._stats").attr("Stats")();
#define TAILRACE_STAT(name) result[#name] = stats.name
  TAILRACE_STAT(blocks_accepted);
  TAILRACE_STAT(blocks_written);
  TAILRACE_STAT(blocks_failed);
  TAILRACE_STAT(blocks_dropped);
  TAILRACE_STAT(blocks_written_through);
  TAILRACE_STAT(bytes_accepted);
  TAILRACE_STAT(bytes_written);
  TAILRACE_STAT(iterations_ended);
  TAILRACE_STAT(iterations_published);
  TAILRACE_STAT(iterations_dropped);
  TAILRACE_STAT(iterations_failed);
  TAILRACE_STAT(signals);
  TAILRACE_STAT(failures);
  TAILRACE_STAT(failures_unseen);
  TAILRACE_STAT(memory_budget);
  TAILRACE_STAT(memory_held);
  TAILRACE_STAT(memory_peak);
  TAILRACE_STAT(seconds_copying);
  TAILRACE_STAT(seconds_waiting_memory);
  TAILRACE_STAT(seconds_waiting_ticket);
  TAILRACE_STAT(seconds_writing);
  TAILRACE_STAT(requests_merged);
  TAILRACE_STAT(requests_peak);
  TAILRACE_STAT(transfers);
  TAILRACE_STAT(transfers_direct);
  TAILRACE_STAT(transfers_again);
  TAILRACE_STAT(transfer_fallbacks);
  TAILRACE_STAT(accesses);
  TAILRACE_STAT(bytes_overwritten);
  TAILRACE_STAT(bytes_from_memory);
  TAILRACE_STAT(bytes_sieved);
  TAILRACE_STAT(iterations_limit);
  TAILRACE_STAT(iterations_peak);
#undef TAILRACE_STAT
  return result;
}

namespace {

nb::object times_of(const nb::module_& classes, const tailrace_times& of) {
  return classes.attr("Times")(of.count, of.total, of.mean, of.p50, of.p90, of.p99, of.most);
}

nb::object sizes_of(const nb::module_& classes, const tailrace_sizes& of) {
  nb::list histogram;
  for (size_t bucket = 0; bucket < std::size(of.buckets); ++bucket) {
    if (of.buckets[bucket] > 0) histogram.append(nb::make_tuple(uint64_t{1} << bucket, of.buckets[bucket]));
  }
  return classes.attr("Sizes")(of.count, of.bytes, of.most, nb::tuple(histogram));
}

}  // namespace

nb::object Client::variable_stats(const std::string& name) const {
  const Inside inside(*this);
  tailrace_variable_stats stats{};
  stats.struct_size = sizeof stats;
  check(handle_, tailrace_get_variable_stats(handle_, c_text(name), &stats));
  const nb::module_ classes = nb::module_::import_("tailrace._stats");
  const auto times = [&classes](const tailrace_times& of) { return times_of(classes, of); };
  nb::dict fields;
#define TAILRACE_STAT(name) fields[#name] = stats.name
  TAILRACE_STAT(blocks_accepted);
  TAILRACE_STAT(blocks_written);
  TAILRACE_STAT(blocks_failed);
  TAILRACE_STAT(blocks_refused);
  TAILRACE_STAT(blocks_written_through);
  TAILRACE_STAT(blocks_merged);
  TAILRACE_STAT(blocks_cached);
  TAILRACE_STAT(bytes_accepted);
  TAILRACE_STAT(bytes_written);
  TAILRACE_STAT(chunks_filtered);
  TAILRACE_STAT(chunks_relaxed);
  TAILRACE_STAT(chunks_skipped);
  TAILRACE_STAT(bytes_filtered);
  TAILRACE_STAT(bytes_stored);
#undef TAILRACE_STAT
  fields["handover"] = times(stats.handover);
  fields["waiting"] = times(stats.waiting);
  fields["queued"] = times(stats.queued);
  fields["writing"] = times(stats.writing);
  fields["filtering"] = times(stats.filtering);
  return classes.attr("VariableStats")(**fields);
}

nb::object Client::file_stats(const std::optional<std::string>& path) const {
  const Inside inside(*this);
  tailrace_file_stats stats{};
  stats.struct_size = sizeof stats;
  check(handle_, tailrace_get_file_stats(handle_, path ? c_text(*path) : nullptr, &stats));
  const nb::module_ classes = nb::module_::import_("tailrace._stats");
  nb::dict fields;
#define TAILRACE_STAT(name) fields[#name] = stats.name
  TAILRACE_STAT(writes);
  TAILRACE_STAT(bytes_written);
  TAILRACE_STAT(reads);
  TAILRACE_STAT(bytes_read);
  TAILRACE_STAT(requests_merged);
  TAILRACE_STAT(bytes_overwritten);
  TAILRACE_STAT(bytes_from_memory);
  TAILRACE_STAT(bytes_sieved);
#undef TAILRACE_STAT
  fields["handover"] = times_of(classes, stats.handover);
  fields["waiting"] = times_of(classes, stats.waiting);
  fields["before"] = sizes_of(classes, stats.before);
  fields["after"] = sizes_of(classes, stats.after);
  return classes.attr("FileStats")(**fields);
}

std::string Client::describe() const {
  const Inside inside(*this);
  const char* text = "";
  check(handle_, tailrace_describe(handle_, &text));
  return text;
}

nb::tuple Client::variable(const std::string& name) const {
  const Inside inside(*this);
  const tailrace_variable_info found = info(name);
  nb::list shape;
  for (int i = 0; i < found.rank; ++i) shape.append(found.shape[i]);
  return nb::make_tuple(nb::str(dtype_of(found.type)), nb::tuple(shape), found.bytes);
}

nb::dict Client::variable_texts() const {
  const Inside inside(*this);
  nb::dict result;
  tailrace_variable_texts texts{};
  texts.struct_size = sizeof texts;
  for (size_t index = 0;; ++index) {
    const tailrace_status status = tailrace_variable_at(handle_, index, &texts);
    if (status == TAILRACE_NOT_FOUND) return result;
    check(handle_, status);
    result[texts.name] = nb::make_tuple(texts.unit, texts.description);
  }
}

std::string Client::text() const {
  const std::string name = "<tailrace.Client " + std::to_string(id_) + ": ";
  if (closed_) return name + "closed>";
  if (forked()) return name + "of the parent process>";
  if (inside_) return name + "in a call of another thread>";
  const Inside inside(*this);
  const char* text = "";
  return name + (tailrace_describe(handle_, &text) == TAILRACE_OK ? text : "open") + ">";
}

void Client::close() {
  const Inside inside(*this);
  const tailrace_status status = without_gil([&] { return tailrace_close(handle_); });
  if (status != TAILRACE_BUSY && status != TAILRACE_FORKED) {
    withdraw([](const View&) { return true; });
    closed_ = true;
    for (const std::shared_ptr<Loan>& loan : loans_) loan->end();
    loans_.clear();  // everything accepted has ended
  }
  if (status == TAILRACE_OK) return;
  raise_all(handle_, status);
}

void Client::exit(nb::handle exception) {
  // In a child, leaves the block like any other: there is nothing to close.
  if (closed_ || forked()) return;
  try {
    close();
  } catch (nb::python_error& error) {
    if (exception.is_none() || !nb::hasattr(exception, "add_note")) throw;
    exception.attr("add_note")(nb::str("tailrace, while closing: {}").format(error.value()));
  }
}

tailrace_variable_info Client::info(const std::string& variable) const {
  tailrace_variable_info result{};
  result.struct_size = sizeof result;
  check(handle_, tailrace_variable(handle_, c_text(variable), &result));
  return result;
}

// Returns the array of a block that is not committed, or None.
nb::object Client::view_of(const std::string& variable, int64_t iteration) const {
  for (const View& view : views_) {
    if (view.iteration != iteration || view.variable != variable) continue;
    if (nb::object array = view.array(); !array.is_none()) return array;
  }
  return nb::none();
}

// Makes arrays read-only whose block no longer belongs to the program: writing into one is then an exception and not
// a wrong file. Views that the program made of them before stay writable; they change this block alone, which is not
// reused while one of them lives.
template <class Which>
void Client::withdraw(Which which) {
  set_writable_if(which, false);
  std::erase_if(views_, which);
}

template <class Which>
void Client::set_writable_if(Which which, bool writable) {
  for (const View& view : views_) {
    if (which(view)) set_writable(view.array, writable);
  }
}

// Releases the arrays whose requests have ended. Where the program has dropped the ticket, asks for its end and
// raises its failure, which no other call would report. `ticket` is what the call returns.
void Client::release_ended(nb::handle ticket) {
  std::optional<Failure> failure;
  for (const std::shared_ptr<Loan>& loan : loans_) {
    const bool forgotten = loan.use_count() == 1;
    if (loan->ended() || !forgotten || failure) continue;
    int ended = 0;
    const tailrace_status status = tailrace_test(loan->ticket, &ended);
    if (ended != 0) loan->end();
    if (status != TAILRACE_OK) failure = last_failure(handle_, status);
  }
  std::erase_if(loans_, [](const std::shared_ptr<Loan>& loan) { return loan->ended(); });
  if (!failure) return;
  failure->earlier = true;
  raise(*failure, {"ticket", ticket});
}

}  // namespace tailrace_python
