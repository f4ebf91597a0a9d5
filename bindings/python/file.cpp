#include "file.hpp"

#include <nanobind/stl/string.h>

#include <cstring>

#include "client.hpp"
#include "failure.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tailrace_python {

namespace {

// Pairs (offset, length): a sequence of them, or an array of two columns.
std::vector<tailrace_extent> extents_of(nb::handle given) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  nb::object array = numpy.attr("asarray")(given, "dtype"_a = "uint64");
  if (nb::cast<size_t>(array.attr("size")) == 0) return {};
  if (nb::cast<size_t>(array.attr("ndim")) != 2 || nb::cast<size_t>(array.attr("shape")[nb::int_(1)]) != 2) {
    throw nb::value_error("extents: expected pairs (offset, length), or an array of two columns");
  }
  array = numpy.attr("ascontiguousarray")(array);
  const Buffer buffer(array, Buffer::Use::read);
  std::vector<tailrace_extent> extents(buffer.bytes() / sizeof(tailrace_extent));
  std::memcpy(extents.data(), buffer.data(), extents.size() * sizeof(tailrace_extent));
  return extents;
}

// The C interface cannot know how long the memory is.
void expect(const char* operation, const std::string& path, const Buffer& buffer,
            const std::vector<tailrace_extent>& extents) {
  const auto fail = [&](const std::string& message) {
    Failure failure;
    failure.status = TAILRACE_INVALID_ARGUMENT;
    failure.operation = operation;
    failure.file = path;
    failure.message = std::string(operation) + " '" + path + "': " + message;
    raise(failure);
  };
  if (!buffer.contiguous()) {
    fail(
        "expected C-contiguous data, found gaps or another order of dimensions; numpy.ascontiguousarray() makes a "
        "copy");
  }
  uint64_t left = buffer.bytes();
  bool fits = true;
  for (const tailrace_extent& extent : extents) {
    fits = fits && extent.length <= left;
    if (fits) left -= extent.length;
  }
  if (!fits || left > 0) {
    fail(std::string("the extents have ") + (fits ? "fewer" : "more") + " bytes than the data, which have " +
         std::to_string(buffer.bytes()));
  }
}

// Below 0 the C interface says what is wrong.
std::vector<tailrace_extent> one_extent(const char* call, const Integer& offset, const Buffer& of) {
  return {{static_cast<uint64_t>(offset.value(call, "offset")), of.bytes()}};
}

}  // namespace

File::File(nb::object owner, tailrace_file file, std::string path)
    : owner_(std::move(owner)), file_(file), path_(std::move(path)) {}

const Client& File::client() const { return *nb::inst_ptr<Client>(owner_); }

bool File::closed() const { return closed_ || client().closed(); }

void File::write(nb::handle data, const Integer& offset) {
  const Inside inside(client());
  const Buffer buffer(in_host_memory(data, nb::none()), Buffer::Use::read);
  put(buffer, one_extent("write", offset, buffer));
}

void File::write_list(nb::handle data, nb::handle extents) {
  const Inside inside(client());
  const Buffer buffer(in_host_memory(data, nb::none()), Buffer::Use::read);
  put(buffer, extents_of(extents));
}

nb::object File::read(nb::object out, const Integer& offset) {
  const Inside inside(client());
  const Buffer buffer(out, Buffer::Use::write);
  get(out, buffer, one_extent("read", offset, buffer));
  return out;
}

nb::object File::read_list(nb::object out, nb::handle extents) {
  const Inside inside(client());
  const Buffer buffer(out, Buffer::Use::write);
  get(out, buffer, extents_of(extents));
  return out;
}

void File::put(const Buffer& data, const std::vector<tailrace_extent>& extents) {
  expect("file_write", path_, data, extents);
  tailrace_status status;
  {
    nb::gil_scoped_release release;
    status = tailrace_file_write(file_, extents.size(), extents.data(), data.data());
  }
  check(file_.client, status);
}

void File::get(nb::handle array, const Buffer& out, const std::vector<tailrace_extent>& extents) {
  expect("file_read", path_, out, extents);
  tailrace_status status;
  {
    nb::gil_scoped_release release;
    status = tailrace_file_read(file_, extents.size(), extents.data(), out.data());
  }
  check(file_.client, status, array);
}

void File::sync() {
  const Inside inside(client());
  tailrace_status status;
  {
    nb::gil_scoped_release release;
    status = tailrace_file_sync(file_);
  }
  check(file_.client, status);
}

uint64_t File::size() {
  const Inside inside(client());
  uint64_t bytes = 0;
  tailrace_status status;
  {
    nb::gil_scoped_release release;
    status = tailrace_file_size(file_, &bytes);
  }
  check(file_.client, status);
  return bytes;
}

void File::truncate(uint64_t bytes) {
  const Inside inside(client());
  tailrace_status status;
  {
    nb::gil_scoped_release release;
    status = tailrace_file_truncate(file_, bytes);
  }
  check(file_.client, status);
}

void File::allocate(uint64_t offset, uint64_t bytes) {
  const Inside inside(client());
  tailrace_status status;
  {
    nb::gil_scoped_release release;
    status = tailrace_file_allocate(file_, offset, bytes);
  }
  check(file_.client, status);
}

void File::close() {
  const Inside inside(client());
  tailrace_status status;
  {
    nb::gil_scoped_release release;
    status = tailrace_file_close(file_);
  }
  if (status != TAILRACE_BUSY && status != TAILRACE_FORKED) closed_ = true;
  check(file_.client, status);
}

void File::exit(nb::handle exception) {
  if (closed() || client().forked()) return;  // in a child it is the parent's
  try {
    close();
  } catch (nb::python_error& error) {
    if (exception.is_none() || !nb::hasattr(exception, "add_note")) throw;
    exception.attr("add_note")(nb::str("tailrace, while closing a file: {}").format(error.value()));
  }
}

void define_file(nb::module_& module) {
  nb::class_<File>(module, "File",
                   "A raw file, in the program's own format. Client.open_file makes it; it is a context manager.\n\n"
                   "One thread at a time may use it or its client. Closing the client closes it, too.")
      .def("write", &File::write, "data"_a.none(), "offset"_a,
           nb::sig("def write(self, data: typing.Any, offset: int) -> None"),
           "Writes a copy of all bytes of `data` (bytes, or a C-contiguous array) at `offset`.\n\n"
           "Returns at once; a later call reports a failure, as for all data that are handed over.")
      .def("write_list", &File::write_list, "data"_a.none(), "extents"_a,
           nb::sig("def write_list(self, data: typing.Any, extents: numpy.typing.ArrayLike) -> None"),
           "Writes pairs (offset, length), whose bytes lie side by side in `data` (list I/O).\n\n"
           "The pairs may be in any order, and must not overlap.")
      .def("read", &File::read, "out"_a.none(), "offset"_a,
           nb::sig("def read(self, out: typing.Any, offset: int) -> typing.Any"),
           "Fills `out` with the bytes from `offset` on, and returns it. Sees all earlier writes of this client.")
      .def("read_list", &File::read_list, "out"_a.none(), "extents"_a,
           nb::sig("def read_list(self, out: typing.Any, extents: numpy.typing.ArrayLike) -> typing.Any"),
           "Fills `out` with the bytes of pairs (offset, length), side by side, and returns it.")
      .def("sync", &File::sync, "Waits until all earlier writes of this client to the file are on the device.")
      .def("size", &File::size, "The length in bytes, after all earlier writes of this client to the file.")
      .def("truncate", &File::truncate, "bytes"_a,
           "Shortens or extends the file to `bytes` bytes; new bytes are 0. Takes effect after all earlier\n"
           "writes of this client.")
      .def("allocate", &File::allocate, "offset"_a, "bytes"_a,
           "Reserves space for the bytes from `offset` on, so that their writes cannot fail for lack of it,\n"
           "and makes the file at least that long.")
      .def("close", &File::close,
           "Waits for all operations on the file, and closes it. Then raises tailrace.Error if there are\n"
           "failures that no call has reported yet.")
      .def_prop_ro("closed", &File::closed, "True if the file or its client was closed.")
      .def_prop_ro("path", &File::path, "The path with which it was opened.")
      .def("__repr__",
           [](const File& self) {
             return "<tailrace.File '" + self.path() + (self.closed() ? "': closed>" : "': open>");
           })
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __enter__(self) -> File"))
      .def(
          "__exit__", [](File& self, nb::handle, nb::handle value, nb::handle) { self.exit(value); }, "type"_a.none(),
          "value"_a.none(), "traceback"_a.none(),
          nb::sig("def __exit__(self, type: type[BaseException] | None, value: BaseException | None, "
                  "traceback: types.TracebackType | None) -> None"));
}

}  // namespace tailrace_python
