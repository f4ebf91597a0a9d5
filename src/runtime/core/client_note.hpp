// ClientNote: what stands in the runtime directory of each client that is being served: by which server, which
// process it is, and the configuration that it came with.
//
// Whoever it names is the only one that writes for the client and may remove what is the client's. It is there before
// the client's segment and until after it, so that a segment is never without; and it is there whole or not at all.
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
  uint64_t began = 0;   // the process, see process_begin()
  std::string run;      // that it belongs to, see CoreServer
  std::string message;  // see ClientMessage

  // Returns true if the process lives.
  bool alive() const;

  // Fails with ENOENT if there is none.
  static Result<ClientNote> read(const PrivateDirectory& directory, int client);
  // TAILRACE_CLIENT_IN_USE if there is one.
  Status put(const PrivateDirectory& directory, int client) const;
  // In the place of the one that is there.
  Status replace(const PrivateDirectory& directory, int client) const;
  static Status remove(const PrivateDirectory& directory, int client);

  // The file of a note that `server` is about to put: what a server that died left of one is removed by the next.
  static std::string fresh_name(int server);

 private:
  Status write_fresh(const PrivateDirectory& directory) const;
};

}  // namespace tailrace::impl
