// ForwardFiles: the files that a forwarder has open for its clients. Clients that open one path share the file, so
// that the engine merges their requests.
//
// It knows neither clients nor messages. A file stays open until as many users have closed it as opened it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "engine/engine.hpp"

namespace tailrace::impl {

class ForwardFiles {
 public:
  // Borrows the engine.
  explicit ForwardFiles(Engine& engine) : engine_(engine) {}

  // Opens a file by calls. `repeated`: an earlier forwarder may have carried this out for the same client, so a fresh
  // file that is there, empty and this user's, is that client's.
  static Result<Opened> open(FileSystem& names, const std::string& path, OpenMode mode, uint32_t device,
                             bool repeated);
  // Takes a file that open() has opened by `path` for one more user, or shares the one that is open already.
  FileId take(const std::string& path, OpenMode mode, Opened opened);
  void close(FileId file);
  // Notes that the file was renamed: later users find it under its new name.
  void renamed(FileId file, const std::string& to);
  FileIdentity identity(FileId file) const { return engine_.identity(file); }
  const StripeMap& stripes(FileId file) const { return engine_.stripes(file); }
  // Returns true if space is reserved for writes: the file is an iteration's, which is written once.
  bool reserves(FileId file) const { return files_.at(file).reserves; }
  const std::string& path(FileId file) const { return files_.at(file).name.first; }
  size_t count() const { return files_.size(); }

 private:
  using Name = std::pair<std::string, bool>;  // path; true: open for writing
  struct File {
    Name name;
    uint32_t users = 0;
    bool reserves = false;
  };

  FileId shared(const Name& name, FileIdentity identity) const;
  void forget_name(FileId file);
  void close_in_engine(FileId file);

  Engine& engine_;
  std::map<FileId, File> files_;
  std::map<Name, FileId> by_name_;  // the latest file of each name
};

}  // namespace tailrace::impl
