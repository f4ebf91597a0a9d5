// Detaching: how a file gets out of the program's hands before its data are written (`close=detach`). Its last close
// waits for nothing: HDF5 closes it under another name, which it loses with its seal; it gets the seal when all data
// are written, if nothing has failed. Detached (process/detached.hpp) has the files that have gone.
//
// Call it under the host's own lock, as HDF5 calls are made.
#pragma once

#include <cstdint>
#include <string>

#include "hdf5_vol/files/pending_writes.hpp"
#include "hdf5_vol/process/seal.hpp"

namespace tailrace::hdf5 {

class Detaching {
 public:
  // Borrows the writes to the file that has that path.
  Detaching(std::string path, PendingWrites& writes) : path_(std::move(path)), writes_(writes) {}

  // Marks a file that was created here: its last close does not wait for its data.
  void detach() { detached_ = true; }
  // Undoes detach().
  void attach() { detached_ = false; }
  bool is_detached() const { return detached_; }

  // Marks a detached file as one that will not be whole; `why` is the reason. spoilt() returns it, or "".
  void spoil(const std::string& why);
  const std::string& spoilt() const { return spoilt_; }

  // Returns true if the file must be hidden: before HDF5 closes it and writes the metadata that make it look whole.
  bool must_hide();
  // Renames it; show() undoes it. Returns false if it cannot be renamed: then wait for the writes on their way.
  bool hide();
  void show();
  bool is_hidden() const { return hidden_; }
  // Call it when HDF5 has closed the hidden file, whose superblock begins at `superblock`. Gives the file its name
  // without its seal, and the seal when all data are written.
  void leave(uint64_t superblock);

 private:
  void hand_over(const Seal& seal);

  const std::string path_;
  PendingWrites& writes_;
  bool detached_ = false;
  bool hidden_ = false;
  std::string spoilt_;
};

}  // namespace tailrace::hdf5
