// Object: the connector's wrapper of an object of the library below. Every pointer that the host holds of the
// connector is one.
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
  void* under;                                        // of the native connector; owned by it; null of requests
  std::shared_ptr<File> file;                         // of files whose data may be carried
  std::shared_ptr<Dataset> dataset;                   // of datasets, from the first time their data are asked for
  std::unique_ptr<Request> request;                   // of requests
  std::shared_ptr<PrefetchFile> prefetch_file;        // of files whose readers are gone ahead of
  std::unique_ptr<PrefetchDataset> prefetch_dataset;  // of datasets, from their first read on, where there are such
  std::shared_ptr<const ProgramAccess> access;        // of files
  Within within = {};                                 // of a file that is detached, or was; else empty
  bool is_new = false;                                // of datasets: made through this object
  bool is_usual = false;                              // of datasets: known to be made with the usual properties
  uint8_t parts = 0;                                  // of small datasets: that were written, as far as it matters
};

inline Object& object_at(void* pointer) { return *static_cast<Object*>(pointer); }
inline const Object& object_at(const void* pointer) { return *static_cast<const Object*>(pointer); }

// Null for null: what could not be opened below was not opened.
void* wrap(Host& host, void* under);

// … which was reached through `from`.
void* wrap(const Object& from, void* under);

// Returns a wrapper of the request.
void* wrap(Host& host, std::unique_ptr<Request> request);

// Gives the wrapper back, not what is under it.
void unwrap(void* pointer);

}  // namespace tailrace::hdf5
