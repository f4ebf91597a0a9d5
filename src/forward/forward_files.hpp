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
  // Requires that every file is closed.
  ~ForwardFiles();

  struct Opened {
    FileId file = 0;
    StripeMap stripes;
    NameFacts facts;  // of the file, if it has a name
  };
  // Opens a file, or shares it. `repeated`: an earlier forwarder may have carried this out for the same client, so a
  // fresh file that is there, empty and this user's, is that client's.
  Result<Opened> open(const std::string& path, OpenMode mode, uint32_t device, bool repeated);
  void close(FileId file);
  // Renames the file; later users find it under its new name.
  Status rename(FileId file, const std::string& to, bool replace);
  const StripeMap& stripes(FileId file) const { return files_.at(file).stripes; }
  // Returns true if space is reserved for writes: the file is an iteration's, which is written once.
  bool reserves(FileId file) const { return files_.at(file).reserves; }
  const std::string& path(FileId file) const { return files_.at(file).name.first; }
  size_t count() const { return files_.size(); }

 private:
  using Name = std::pair<std::string, bool>;  // path; true: open for writing
  struct File {
    Name name;
    uint32_t users = 0;
    StripeMap stripes;
    NameFacts facts;
    bool reserves = false;
  };

  std::optional<FileId> shared(const Name& name, const Result<NameFacts>& facts) const;
  void forget_name(FileId file);

  Engine& engine_;
  std::map<FileId, File> files_;
  std::map<Name, FileId> by_name_;  // the latest file of each name
};

}  // namespace tailrace::impl
