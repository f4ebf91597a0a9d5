// ClientNote: a record in the runtime directory for each client that is being served. It names the client's server
// and process, and has the configuration that the client came with.
//
// Only the server that it names writes for the client and may remove what belongs to the client. The note exists
// before the client's segment and outlives it, so a segment always has a note. A note is complete or absent.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/os/private_directory.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

struct ClientNote {
  int server = 0;
  pid_t process = 0;
  uint64_t began = 0;   // when the process began, see process_begin()
  std::string run;      // the run that the client belongs to, see CoreServer
  std::string message;  // see ClientMessage
  bool served = true;   // false: its files are being prepared, and it was not welcomed

  // Returns true if the process is alive.
  bool alive() const;

  // Reads the client's note; fails with ENOENT if there is none.
  static Result<ClientNote> read(const PrivateDirectory& directory, int client);
  // Creates the note; returns TAILRACE_CLIENT_IN_USE if there is one.
  Status put(const PrivateDirectory& directory, int client) const;
  // Replaces the existing note.
  Status replace(const PrivateDirectory& directory, int client) const;
  static Status remove(const PrivateDirectory& directory, int client);

  // Returns the name of the temporary file of a note that `server` writes. If the server dies, the next one removes
  // the file.
  static std::string fresh_name(int server);

 private:
  Status write_fresh(const PrivateDirectory& directory) const;
};

}  // namespace tailrace::impl
