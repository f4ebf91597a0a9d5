// Object: the connector's wrapper of an object of the library below. Every pointer to the connector that the host
// holds points to an Object.
#pragma once

#include <memory>

#include "hdf5_vol/files/files.hpp"
#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

class Dataset;
class PrefetchDataset;
class PrefetchFile;
class ProgramAccess;
class Request;

struct Object {
  Host& host;
  void* under;                                  // the native connector's object, which it owns; null for requests
  std::shared_ptr<File> file;                   // for files whose data may be carried
  std::shared_ptr<Dataset> dataset;             // for datasets, from the first time that their data are asked for
  std::unique_ptr<Request> request;             // for requests
  std::shared_ptr<PrefetchFile> prefetch_file;  // for files whose sequential readers are prefetched for
  std::unique_ptr<PrefetchDataset> prefetch_dataset;  // for datasets of such files, from their first read on
  std::shared_ptr<const ProgramAccess> access;        // for files
  Within within = {};                                 // the detached file that this is part of; else empty
  bool is_new = false;                                // for datasets: created through this object
  bool is_usual = false;                              // for datasets: known to have the default properties
  uint8_t parts = 0;  // for small datasets: parts that were written, as far as it matters
};

inline Object& object_at(void* pointer) { return *static_cast<Object*>(pointer); }
inline const Object& object_at(const void* pointer) { return *static_cast<const Object*>(pointer); }

// Wraps `under`. Returns null for null: the library below could not open the object.
void* wrap(Host& host, void* under);

// Wraps `under`, which was reached through `from`.
void* wrap(const Object& from, void* under);

// Wraps a request.
void* wrap(Host& host, std::unique_ptr<Request> request);

// Frees the wrapper, but not the object under it.
void unwrap(void* pointer);

}  // namespace tailrace::hdf5
