// ForwardCalls: has the engine carry out a client's calls on names and whole files, beside its transfers, so that
// only the caller waits for a slow file system.
//
// It checks what a client may name: files that it has open, locks that it holds. Which paths there are decides the
// file system that the engine runs on (storage/rooted).
#pragma once

#include <functional>
#include <vector>

#include "forward/forward_client.hpp"
#include "forward/forward_files.hpp"
#include "model/wire/forward_wire.hpp"

namespace tailrace::impl {

class ForwardCalls {
 public:
  // Most files and locks of one client, but for those that calls under way add.
  static constexpr size_t kMostFiles = 65536;
  static constexpr size_t kMostLocks = 256;

  // The answer to a call. `bulk`: the names of a list.
  using Then = std::function<void(const ForwardAnswer& answer, std::vector<std::byte> bulk)>;

  // Borrows both.
  ForwardCalls(Engine& engine, ForwardFiles& files) : engine_(engine), files_(files) {}

  // Returns true if the client may make this call: it names only what the client has.
  static bool is_allowed(const ForwardClient& client, const ForwardCallMessage& call);
  // Begins the call. Requires is_allowed(), that it concerns a file system, and that the engine has room for two
  // requests. The client stays where it is until the answer, which comes at once, or from the engine's progress().
  void begin(ForwardClient& client, const ForwardCallMessage& call, Then then);
  // Notes that a request of the file has ended in the engine.
  void request_ended(ForwardClient& client, uint32_t file);
  // Closes the files of a client, as far as the engine has room, and then releases its locks. Returns true if all is
  // done; else call it again. Requires that nothing of the client is under way.
  bool release(ForwardClient& client);

  static ForwardAnswer answer_of(const Status& status);

 private:
  // The outcome of a call on names.
  struct Outcome {
    ForwardAnswer answer = {};
    std::vector<std::byte> bulk = {};
    Opened opened = {};
    std::unique_ptr<NameLock> lock = {};
  };
  // A call that the engine carries out in its turn, until its end.
  struct InTurn;

  static Outcome carry_out(FileSystem& names, const ForwardCallMessage& call);
  static Outcome open(FileSystem& names, const ForwardCallMessage& call);
  static Outcome stat(const FileSystem& names, const ForwardCallMessage& call);
  static Outcome list(const FileSystem& names, const std::string& path);
  static Outcome lock(FileSystem& names, const ForwardCallMessage& call);
  static Status remove(FileSystem& names, const ForwardCallMessage& call);
  void begin_on_file(ForwardClient& client, const CallRecord& call, Then then);
  void begin_in_turn(ForwardClient& client, const ForwardCallMessage& call, Then then);
  void begin_on_names(ForwardClient& client, const ForwardCallMessage& call, Then then);
  void take(ForwardClient& client, const ForwardCallMessage& call, Outcome& outcome);
  void let_go(std::unique_ptr<NameLock> lock, Then then);
  void close(ForwardClient& client, uint32_t file);

  Engine& engine_;
  ForwardFiles& files_;
};

}  // namespace tailrace::impl
