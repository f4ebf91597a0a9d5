// OwnDescriptor: the library's own descriptor of a file that the MPI has opened. It leads to the file whatever
// happens to its name.
#pragma once

#include <string>

#include "process_client/file_key.hpp"

namespace tailrace::mpiio {

using process::FileKey;

class OwnDescriptor {
 public:
  OwnDescriptor() = default;
  ~OwnDescriptor();
  OwnDescriptor(const OwnDescriptor&) = delete;
  OwnDescriptor& operator=(const OwnDescriptor&) = delete;

  // Opens the file; call it once, before all else. Returns 0, or an errno.
  int open(const std::string& path, bool reads, bool writes);
  // Closes the file: it is not known any more which one this is.
  void close();
  // Returns true if the process has another descriptor of the file: the MPI's. If not, the MPI has not opened it in
  // this process, or the name led to another file when it was opened again.
  bool has_twin() const;

  // Returns true if all processes of the node share the file's page cache, where small pieces cost little.
  bool shares_cache() const;

  int get() const { return descriptor_; }
  // The file; while it is not open: unknown.
  const FileKey& key() const { return key_; }

 private:
  int descriptor_ = -1;
  FileKey key_;
};

}  // namespace tailrace::mpiio
