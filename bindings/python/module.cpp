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
#include "parameters.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tailrace_python {

namespace {

using Parameters = std::vector<std::pair<std::string, nb::object>>;
using Text = std::optional<std::string>;

// The options as C takes them; good while the arguments live.
struct Options {
  Options(const char* call, const Parameters& given, const Text& path, const Text& text) : parameters(call, given) {
    c.struct_size = sizeof c;
    c.config_text = text ? c_text(*text) : nullptr;
    c.path = path ? c_text(*path) : nullptr;
    c.parameters = parameters.wholes.data();
    c.parameter_count = parameters.wholes.size();
    c.real_parameters = parameters.reals.data();
    c.real_parameter_count = parameters.reals.size();
    c.python_environment = c_text(python);
  }
  GivenParameters parameters;
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

// Returns what is wrong with a configuration: file, line, column, key, found, expected, hint.
nb::list mistakes(const std::string& config, const Parameters& parameters, const Text& path, const Text& text,
                  bool flush_waits) {
  Options options("mistakes", parameters, path, text);
  options.c.flush_waits = flush_waits ? 1 : 0;
  nb::list found;
  const auto add = [](void* context, const tailrace_mistake* one) {
    static_cast<nb::list*>(context)->append(
        nb::make_tuple(one->file, one->line, one->column, one->key, one->found, one->expected, one->hint));
  };
  const tailrace_status status = tailrace_check_all(c_text(config), &options.c, add, &found);
  if (found.size() == 0) check(nullptr, status);
  return found;
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
                             "The result of a call: the status codes of the C interface.")
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
           "Waits until the array is written, at most `timeout` seconds (None: without limit).\n\n"
           "Returns False if it is not written by then: the array is still lent. Raises tailrace.Error if the\n"
           "write failed.")
      .def("test", &Ticket::test,
           "Returns True if the array is written; does not wait. Raises tailrace.Error if the write failed.")
      .def(
          "__await__",
          [](nb::handle self) {
            return nb::module_::import_("tailrace._awaiting").attr("until_ended")(self).attr("__await__")();
          },
          nb::sig("def __await__(self) -> collections.abc.Generator[typing.Any, None, bool]"),
          "`await ticket` waits in asyncio, as wait does, and lets other tasks run.")
      .def("__repr__", &Ticket::text);
}

void set_parameters(Client& self, const nb::kwargs& values) {
  Parameters parameters;
  for (const auto [key, value] : values) parameters.emplace_back(nb::cast<std::string>(key), nb::borrow(value));
  self.set_parameters(parameters);
}

nb::class_<Client> define_client(nb::module_& module) {
  return nb::class_<Client>(
             module, "Client", nb::is_weak_referenceable(),
             "A client: one process (or thread) of the program. tailrace.open makes it; it is a context manager.\n\n"
             "One thread at a time may use it. A tailrace.Error with `earlier` true reports the loss of a block\n"
             "that was handed over before: the call that raised it was carried out and must not be repeated. The\n"
             "client belongs to the process that opened it: in a child of os.fork() each call raises\n"
             "tailrace.Error (FORKED), and leaving a `with` block does nothing.")
      .def("write", &Client::write, "variable"_a, "iteration"_a, "array"_a.none(), "fill_value"_a = nb::none(),
           nb::sig("def write(self, variable: str, iteration: int, array: typing.Any, fill_value: typing.Any = None)"
                   " -> bool"),
           "Hands over a copy of `array`, which may change as soon as this returns.\n\n"
           "`array` must be C-contiguous and of the declared type and shape; nothing is converted. An array in the\n"
           "memory of a device (CuPy, PyTorch, …) is copied by its own library. A masked array is refused unless\n"
           "`fill_value` replaces its masked elements. Returns False if `when_full: drop` has dropped the\n"
           "iteration.")
      .def("alloc", &Client::alloc, "variable"_a, "iteration"_a,
           nb::sig("def alloc(self, variable: str, iteration: int) -> numpy.typing.NDArray[typing.Any]"),
           "Returns a writable array in tailrace's memory, in which to build the block without a copy.\n\n"
           "Commit or close makes it read-only. It keeps its values while you keep it, or a view of it, and\n"
           "uses part of `memory.budget` until then: release arrays, or alloc raises tailrace.Error\n"
           "(BUDGET_HELD). A view that you made before commit (a slice, a memoryview) stays writable; values\n"
           "written through it after commit may reach the file of this block, and no other. A child of\n"
           "os.fork() has none of this memory. Raises tailrace.Dropped if `when_full: drop` has dropped the\n"
           "iteration. If it raises an error with `earlier` true, the array is the error's `array`.")
      .def("commit", &Client::commit, "variable"_a, "iteration"_a,
           "Hands over the array that alloc returned. Returns False if the iteration was dropped. If it raises an\n"
           "error with `earlier` false, the array is still yours.")
      .def("borrow", &Client::borrow, "variable"_a, "iteration"_a, "array"_a.none(), "fill_value"_a = nb::none(),
           nb::sig("def borrow(self, variable: str, iteration: int, array: typing.Any, fill_value: typing.Any = None)"
                   " -> Ticket"),
           "Lends `array`, without a copy: it must not change until the ticket has ended.\n\n"
           "A NumPy array is read-only until wait, test, await or close finds that; other arrays over the same\n"
           "memory, such as views of before, stay writable. Of an array in the memory of a device, or a masked\n"
           "one with `fill_value`, a copy is lent.\n"
           "The client keeps the array alive until then. Raises tailrace.Dropped if the iteration was dropped.")
      .def("end_iteration", &Client::end_iteration, "iteration"_a, "time"_a = nb::none(), "dt"_a = nb::none(),
           nb::sig(
               "def end_iteration(self, iteration: int, time: float | None = None, dt: float | None = None) -> bool"),
           "Ends `iteration`: no more blocks come for it, and its file is completed in the background.\n\n"
           "`time` is the iteration's time, and `dt` the time to the next one, in the unit of `time.unit`; without\n"
           "them the configuration gives both. Returns False if the iteration was dropped.")
      .def("attribute", &Client::attribute, "iteration"_a, "name"_a, "value"_a.none(), "variable"_a = nb::none(),
           nb::sig("def attribute(self, iteration: int, name: str, value: typing.Any, variable: str | None = None)"
                   " -> bool"),
           "Sets an attribute of `iteration`, or of the dataset of `variable` in it.\n\n"
           "`value` is a text, a number, or a sequence of either; a later call replaces it. Returns False if the\n"
           "iteration was dropped.")
      .def("signal", &Client::signal, "event"_a, "iteration"_a,
           "Records the event `event` of `iteration`. Returns False if the iteration was dropped.")
      .def("flush", &Client::flush,
           "Waits until everything handed over has reached what `storage.durability` asks for.")
      .def(
          "read", &Client::read, "variable"_a, "iteration"_a, "out"_a = nb::none(),
          nb::sig("def read(self, variable: str, iteration: int, out: numpy.typing.NDArray[typing.Any] | None = None)"
                  " -> numpy.typing.NDArray[typing.Any]"),
          "Reads a block that this client wrote, into `out` or a new array, and returns it.");
}

void define_questions_and_end(nb::class_<Client>& client) {
  client
      .def("open_file", &Client::open_file, "path"_a, "mode"_a = "write", "immediate"_a = false,
           nb::sig("def open_file(self, path: str, mode: str = 'write', immediate: bool = False) -> File"),
           "Opens a raw file, relative to (the first) `storage.path` and below it.\n\n"
           "`mode`: \"read\" an existing file; \"write\": read and write, create it if needed, keep its contents;\n"
           "\"truncate\": read and write, and empty it first. Writes to an `immediate` file do not wait to be\n"
           "merged with later ones.")
      .def("last_iteration", &Client::last_iteration,
           "The last iteration that an earlier run has published, when the client was opened; None if there is\n"
           "none.\n\nNeeds `storage.existing: continue`.")
      .def("last_time", &Client::last_time,
           "The time of that iteration, in `time.unit`, with which a program goes on; None if there is no such\n"
           "iteration, or if its file has no time.")
      .def("remove_file", &Client::remove_file, "path"_a,
           "Removes a raw file. `path` is as in open_file; no client of the same server may have it open.")
      .def("stats", &Client::stats, nb::sig("def stats(self) -> dict[str, int | float]"),
           "The counters of this client so far: the members of tailrace_stats, by name.")
      .def("variable_stats", &Client::variable_stats, "name"_a,
           nb::sig("def variable_stats(self, name: str) -> tailrace._stats.VariableStats"),
           "The counters of one declared variable so far, and its times in seconds.")
      .def("file_stats", &Client::file_stats, "path"_a = nb::none(),
           nb::sig("def file_stats(self, path: str | None = None) -> tailrace._stats.FileStats"),
           "The counters of the requests for one raw file, given by the path with which it was opened.\n\n"
           "Without a path: of the files of all iterations together.")
      .def("describe", &Client::describe, "One line of text that describes the writer and its resources.")
      .def("variable", &Client::variable, "name"_a,
           nb::sig("def variable(self, name: str) -> tuple[str, tuple[int, ...], int]"),
           "The declared dtype, shape and size in bytes of a variable.")
      .def_prop_ro(
          "variables",
          [](nb::handle self) {
            const Client& client = *nb::inst_ptr<Client>(self);
            return nb::module_::import_("tailrace._variables").attr("Variables")(self, client.variable_texts());
          },
          nb::sig("def variables(self) -> tailrace._variables.Variables"),
          "The declared variables: a mapping from names to their dtype, shape, nbytes, unit and description.")
      .def("__repr__", &Client::text)
      .def(
          "_repr_html_", [](nb::handle self) { return nb::module_::import_("tailrace._html").attr("client")(self); },
          nb::sig("def _repr_html_(self) -> str"))
      .def("close", &Client::close,
           "Waits until everything handed over has ended, and closes the client. Then raises tailrace.Error if\n"
           "there are failures that no call has reported yet: it is the first of them, and has the rest in\n"
           "`others`.")
      .def_prop_ro("closed", &Client::closed, "True if close was called.")
      .def_prop_ro("client", &Client::id, "The id with which it was opened.")
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
      .def("set_parameters", &set_parameters, nb::sig("def set_parameters(self, **values: int | float) -> None"),
           "Sets parameters of the configuration, all at once: `set_parameters(n=12, first=30)`.\n\n"
           "The shapes that name them change for the blocks of later calls: an array may have another length\n"
           "in each iteration, even 0. Spacings and origins of grids may name real numbers. If the call fails,\n"
           "nothing changes; but integers are set before real numbers.")
      .def("enable", &Client::enable, "variable"_a, "on"_a = true,
           "Switches a variable on or off. Blocks of a variable that is off are accepted and not written.");
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
  module.def(
      "open", &open, "config"_a, "client"_a, "parameters"_a, "path"_a.none(), "text"_a.none(),
      nb::sig("def open(config: str, client: int, parameters: collections.abc.Sequence[tuple[str, int | float]], "
              "path: str | None, text: str | None) -> Client"));
  module.def("check", &check_config, "config"_a, "parameters"_a, "path"_a.none(), "text"_a.none(), "flush_waits"_a);
  module.def("mistakes", &mistakes, "config"_a, "parameters"_a, "path"_a.none(), "text"_a.none(), "flush_waits"_a,
             nb::sig("def mistakes(config: str, parameters: collections.abc.Sequence[tuple[str, object]], "
                     "path: str | None, text: str | None, flush_waits: bool) "
                     "-> list[tuple[str, int, int, str, str, str, str]]"));
  module.def("recover", &recover, "directory"_a, "apply"_a,
             nb::sig("def recover(directory: str, apply: bool) -> list[tuple[str, int, bool, str, str]]"));
  module.def("version", &tailrace_version);
}
