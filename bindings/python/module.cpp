// module: tailrace._tailrace, the extension behind the Python package tailrace. Names, signatures and docstrings.
//
// It is built on the C header alone. What users call is re-exported by tailrace/__init__.py, which adds the parts
// that are easier said in Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <tailrace/tailrace.h>
#include <unistd.h>

#include <climits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client.hpp"
#include "failure.hpp"
#include "file.hpp"
#include "integer.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tailrace_python {

namespace {

using Parameters = std::vector<std::pair<std::string, Integer>>;
using Text = std::optional<std::string>;

// The options as C takes them; good while the arguments live.
struct Options {
  Options(const char* call, const Parameters& given, const Text& path, const Text& text) {
    for (const auto& [name, value] : given) parameters.push_back({c_text(name), value.value(call, name)});
    c.struct_size = sizeof c;
    c.config_text = text ? c_text(*text) : nullptr;
    c.path = path ? c_text(*path) : nullptr;
    c.parameters = parameters.data();
    c.parameter_count = parameters.size();
    c.python_environment = c_text(python);
  }
  std::vector<tailrace_parameter> parameters;
  const std::string python = nb::cast<std::string>(nb::module_::import_("sys").attr("prefix"));
  tailrace_open_options c{};
};

nb::object open(const std::string& config, const Integer& number, const Parameters& parameters, const Text& path,
                const Text& text) {
  const Options options("open", parameters, path, text);
  const auto client = static_cast<int>(number.value("open", "client", 0, INT_MAX));
  tailrace_client* handle = nullptr;
  tailrace_status status;
  {
    nb::gil_scoped_release release;
    status = tailrace_open_with(c_text(config), client, &options.c, &handle);
  }
  check(nullptr, status);
  return nb::cast(new Client(handle, client, getpid()), nb::rv_policy::take_ownership);
}

void check_config(const std::string& config, const Parameters& parameters, const Text& path, const Text& text,
                  bool flush_waits) {
  Options options("check", parameters, path, text);
  options.c.flush_waits = flush_waits ? 1 : 0;
  check(nullptr, tailrace_check(c_text(config), &options.c));
}

struct Leftover {
  std::string file;
  int kind;
  bool done;
  std::string status, message;
};

nb::list recover(const std::string& directory, bool apply) {
  std::vector<Leftover> found;
  const auto add = [](void* context, const char* file, tailrace_leftover kind, int done, tailrace_status status,
                      const char* message) {
    static_cast<std::vector<Leftover>*>(context)->push_back(
        {file, kind, done != 0, tailrace_status_text(status), message ? message : ""});
  };
  tailrace_status status;
  {
    nb::gil_scoped_release release;
    status = tailrace_recover(c_text(directory), apply ? 1 : 0, add, &found);
  }
  check(nullptr, status);
  nb::list result;
  for (const Leftover& one : found) {
    result.append(nb::make_tuple(one.file, one.kind, one.done, one.status, one.message));
  }
  return result;
}

void define_status(nb::module_& module) {
  nb::enum_<tailrace_status>(module, "Status", nb::is_arithmetic(),
                             "What a call has to say; the codes of the C interface.")
#define TAILRACE_VALUE(name) .value(#name, TAILRACE_##name)
      // clang-format off
      TAILRACE_VALUE(OK)
      TAILRACE_VALUE(INVALID_ARGUMENT)
      TAILRACE_VALUE(INVALID_CONFIG)
      TAILRACE_VALUE(UNKNOWN_VARIABLE)
      TAILRACE_VALUE(WRONG_TYPE)
      TAILRACE_VALUE(WRONG_SHAPE)
      TAILRACE_VALUE(WRONG_ORDER)
      TAILRACE_VALUE(TOO_LARGE)
      TAILRACE_VALUE(BUDGET_HELD)
      TAILRACE_VALUE(NOT_FOUND)
      TAILRACE_VALUE(CLIENT_IN_USE)
      TAILRACE_VALUE(CLOSED)
      TAILRACE_VALUE(BUSY)
      TAILRACE_VALUE(UNSUPPORTED)
      TAILRACE_VALUE(EXISTS)
      TAILRACE_VALUE(FORKED)
      TAILRACE_VALUE(TIMEOUT)
      TAILRACE_VALUE(DROPPED)
      TAILRACE_VALUE(ACTION_FAILED)
      TAILRACE_VALUE(CLIENTS_MISSING)
      TAILRACE_VALUE(IO_ERROR)
      TAILRACE_VALUE(EARLIER_FAILURE)
      TAILRACE_VALUE(NOT_PUBLISHED)
      TAILRACE_VALUE(SERVER_LOST)
      TAILRACE_VALUE(OUT_OF_MEMORY)
      TAILRACE_VALUE(INTERNAL)
  // clang-format on
#undef TAILRACE_VALUE
                                          ;
}

void define_ticket(nb::module_& module) {
  nb::class_<Ticket>(module, "Ticket", "A handle on one borrowed array; made by Client.borrow.")
      .def("wait", &Ticket::wait, "timeout"_a = nb::none(),
           "Waits until the array has been written, at most `timeout` seconds (None: for ever).\n\n"
           "False: not yet, the array is still lent. Raises tailrace.Error if it could not be written.")
      .def("test", &Ticket::test,
           "Whether the array has been written, without waiting. Raises tailrace.Error if it could not be.");
}

void set_parameters(Client& self, const nb::kwargs& values) {
  std::vector<std::pair<std::string, int64_t>> parameters;
  for (const auto [key, value] : values) {
    const std::string name = nb::cast<std::string>(key);
    parameters.emplace_back(name, Integer(value).value("set_parameters", name));
  }
  self.set_parameters(parameters);
}

nb::class_<Client> define_client(nb::module_& module) {
  return nb::class_<Client>(
             module, "Client", nb::is_weak_referenceable(),
             "One process (or thread) of the program; made by tailrace.open, and a context manager.\n\n"
             "One thread at a time may use it. A tailrace.Error with `earlier` true is about a block handed\n"
             "over before: the call that raised it has been carried out and must not be repeated. It belongs to\n"
             "the process that opened it: in a child of os.fork() each call raises tailrace.Error (FORKED), and\n"
             "leaving a `with` block does nothing.")
      .def("write", &Client::write, "variable"_a, "iteration"_a, "array"_a.none(),
           nb::sig("def write(self, variable: str, iteration: int, array: numpy.typing.NDArray[typing.Any]) -> bool"),
           "Hands over a copy of `array`; it may be changed as soon as this returns.\n\n"
           "`array` is C-contiguous and of the declared type and shape; nothing is converted.\n"
           "False: `when_full: drop` has dropped the iteration.")
      .def(
          "alloc", &Client::alloc, "variable"_a, "iteration"_a,
          nb::sig("def alloc(self, variable: str, iteration: int) -> numpy.typing.NDArray[typing.Any]"),
          "A writable array in tailrace's memory to build the block in, without a copy.\n\n"
          "From commit, or close, on it is read-only and keeps its values for as long as you keep it, or a view\n"
          "of it. It takes its part of `memory.budget` until then: let go of arrays, or alloc raises tailrace.Error\n"
          "(BUDGET_HELD). A view that you made before commit (a slice, a memoryview) stays writable; what is\n"
          "written through it then may be in the file of this block or not, and nowhere else. A child of os.fork()\n"
          "has none of this memory. Raises tailrace.Dropped if `when_full: drop` has dropped the iteration.")
      .def("commit", &Client::commit, "variable"_a, "iteration"_a,
           "Hands over the array that alloc returned. False: the iteration has been dropped.")
      .def("borrow", &Client::borrow, "variable"_a, "iteration"_a, "array"_a.none(),
           nb::sig(
               "def borrow(self, variable: str, iteration: int, array: numpy.typing.NDArray[typing.Any]) -> Ticket"),
           "Lends `array`, without a copy: leave it unchanged until the ticket has ended.\n\n"
           "The array is kept alive until then. Raises tailrace.Dropped if the iteration has been dropped.")
      .def("end_iteration", &Client::end_iteration, "iteration"_a,
           "Says that nothing more comes for `iteration`: its file is completed in the background.\n\n"
           "False: the iteration has been dropped.")
      .def("signal", &Client::signal, "event"_a, "iteration"_a,
           "Records the event `event` of `iteration`. False: the iteration has been dropped.")
      .def("flush", &Client::flush, "Waits until everything handed over has ended as `storage.durability` asks.")
      .def(
          "read", &Client::read, "variable"_a, "iteration"_a, "out"_a = nb::none(),
          nb::sig("def read(self, variable: str, iteration: int, out: numpy.typing.NDArray[typing.Any] | None = None)"
                  " -> numpy.typing.NDArray[typing.Any]"),
          "Reads a block that this client wrote, into `out` or a new array, and returns it.");
}

void define_questions_and_end(nb::class_<Client>& client) {
  client
      .def(
          "open_file", &Client::open_file, "path"_a, "mode"_a = "write", "immediate"_a = false,
          nb::sig("def open_file(self, path: str, mode: str = 'write', immediate: bool = False) -> File"),
          "Opens a raw file, relative to (the first) `storage.path` and below it.\n\n"
          "`mode`: \"read\" one that is there; \"write\": read and write, made if it is not there, what is in it\n"
          "stays; \"truncate\": the same, and emptied. Writes of an `immediate` one do not gather to be merged with\n"
          "later ones.")
      .def("remove_file", &Client::remove_file, "path"_a,
           "Removes a raw file, given as to open_file, that no client of the same server has open.")
      .def("stats", &Client::stats, nb::sig("def stats(self) -> dict[str, int | float]"),
           "What this client has done so far: the members of tailrace_stats, by name.")
      .def("variable_stats", &Client::variable_stats, "name"_a,
           nb::sig("def variable_stats(self, name: str) -> tailrace._stats.VariableStats"),
           "What this client has done so far with one declared variable: counts, and times in seconds.")
      .def("file_stats", &Client::file_stats, "path"_a = nb::none(),
           nb::sig("def file_stats(self, path: str | None = None) -> tailrace._stats.FileStats"),
           "What has become of requests for one raw file, by the path that it was opened by.\n\n"
           "Without a path: of the files of iterations, all together.")
      .def("describe", &Client::describe, "What the writer is and got, as one line of text.")
      .def("variable", &Client::variable, "name"_a,
           nb::sig("def variable(self, name: str) -> tuple[str, tuple[int, ...], int]"),
           "The declared dtype, shape and size in bytes of a variable.")
      .def(
          "close", &Client::close,
          "Waits until everything handed over has ended, and closes. Raises tailrace.Error if something failed that\n"
          "no call has told yet, with the other such failures in `others`; the client is closed all the same.")
      .def_prop_ro("closed", &Client::closed, "Whether close has been called.")
      .def_prop_ro("client", &Client::id, "The id that it was opened with.")
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __enter__(self) -> Client"))
      .def(
          "__exit__", [](Client& self, nb::handle, nb::handle value, nb::handle) { self.exit(value); },
          "type"_a.none(), "value"_a.none(), "traceback"_a.none(),
          nb::sig("def __exit__(self, type: type[BaseException] | None, value: BaseException | None, "
                  "traceback: types.TracebackType | None) -> None"));
}

void define_changes(nb::class_<Client>& client) {
  client
      .def("set_parameters", &set_parameters, nb::sig("def set_parameters(self, **values: int) -> None"),
           "Gives parameters of the configuration new values, all together: `set_parameters(n=12, first=30)`.\n\n"
           "The shapes that name them follow, for the blocks of the calls after: an array may have another length\n"
           "in each iteration, and 0 is one. What is refused changes nothing.")
      .def("enable", &Client::enable, "variable"_a, "on"_a = true,
           "Switches a variable on or off. Of one that is off, blocks are accepted and not written.");
}

}  // namespace

}  // namespace tailrace_python

NB_MODULE(_tailrace, module) {
  using namespace tailrace_python;
  module.doc() = "The C interface of tailrace, as Python sees it. Use the package tailrace.";
  define_status(module);
  define_ticket(module);
  define_file(module);
  nb::class_<Client> client = define_client(module);
  define_questions_and_end(client);
  define_changes(client);
  module.def("open", &open, "config"_a, "client"_a, "parameters"_a, "path"_a.none(), "text"_a.none(),
             nb::sig("def open(config: str, client: int, parameters: collections.abc.Sequence[tuple[str, int]], "
                     "path: str | None, text: str | None) -> Client"));
  module.def("check", &check_config, "config"_a, "parameters"_a, "path"_a.none(), "text"_a.none(), "flush_waits"_a);
  module.def("recover", &recover, "directory"_a, "apply"_a,
             nb::sig("def recover(directory: str, apply: bool) -> list[tuple[str, int, bool, str, str]]"));
  module.def("version", &tailrace_version);
}
