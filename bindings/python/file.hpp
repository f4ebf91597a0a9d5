// file: tailrace.File, a raw file of a client, over the C interface alone. For the GIL and threads, see client.hpp.
#pragma once

#include <nanobind/nanobind.h>
#include <tailrace/tailrace.h>

#include <string>
#include <vector>

#include "array.hpp"
#include "integer.hpp"

namespace tailrace_python {

class Client;

class File {
 public:
  // `owner` is the Python object of the client, which this keeps alive.
  File(nanobind::object owner, tailrace_file file, std::string path);

  void write(nanobind::handle data, const Integer& offset);
  void write_list(nanobind::handle data, nanobind::handle extents);
  nanobind::object read(nanobind::object out, const Integer& offset);
  nanobind::object read_list(nanobind::object out, nanobind::handle extents);
  void sync();
  uint64_t size();
  void truncate(uint64_t bytes);
  void allocate(uint64_t offset, uint64_t bytes);
  void close();
  // Closes. If the body of the `with` has raised an exception, adds a failure of the close to it as a note.
  void exit(nanobind::handle exception);

  const std::string& path() const { return path_; }
  bool closed() const;

 private:
  const Client& client() const;
  void put(const Buffer& data, const std::vector<tailrace_extent>& extents);
  void get(nanobind::handle array, const Buffer& out, const std::vector<tailrace_extent>& extents);

  nanobind::object owner_;
  const tailrace_file file_;
  const std::string path_;
  bool closed_ = false;
};

// Defines tailrace.File in Python.
void define_file(nanobind::module_& module);

}  // namespace tailrace_python
