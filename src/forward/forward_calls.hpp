// ForwardCalls: carries out a client's calls on names and whole files, at once.
//
// It checks what a client may name: files that it has open, locks that it holds. Which paths there are decides the
// file system that the engine runs on (storage/rooted). Truncations and settling are requests, so the caller makes
// them.
#pragma once

#include <vector>

#include "base/function_ref.hpp"
#include "forward/forward_client.hpp"
#include "forward/forward_files.hpp"
#include "model/wire/forward_wire.hpp"

namespace tailrace::impl {

class ForwardCalls {
 public:
  // Most files and locks of one client.
  static constexpr size_t kMostFiles = 65536;
  static constexpr size_t kMostLocks = 256;

  // Borrows both.
  ForwardCalls(Engine& engine, ForwardFiles& files) : engine_(engine), files_(files) {}

  // Returns true if the client may make this call: it names only what the client has.
  static bool is_allowed(const ForwardClient& client, const ForwardCallMessage& call);
  // Puts a renaming off until no transfer of the file is pending: one that was confirmed as received may still fail.
  // Returns false if none is.
  static bool put_off(ForwardClient& client, uint64_t number, const ForwardCallMessage& call);
  // Carries the call out. `bulk`: the names of a list. Requires is_allowed(), and that the caller does
  // not make it.
  ForwardAnswer carry_out(ForwardClient& client, const ForwardCallMessage& call, std::vector<std::byte>& bulk);
  // Notes that a transfer of the file has ended in the engine. `answer`: to calls that were put off until now.
  using Answer = FunctionRef<void(uint64_t number, const ForwardAnswer& answer)>;
  void transfer_ended(ForwardClient& client, uint32_t file, Answer answer);
  // Closes all files of a client, and releases its locks. Requires that none of its transfers is pending.
  void release(ForwardClient& client);

  static ForwardAnswer answer_of(const Status& status);

 private:
  ForwardAnswer rename(uint32_t file, const std::string& to, bool replace);
  ForwardAnswer open(ForwardClient& client, const ForwardCallMessage& call);
  void close(ForwardClient& client, uint32_t file);
  ForwardAnswer stat(const std::string& path) const;
  ForwardAnswer list(const std::string& path, std::vector<std::byte>& bulk) const;
  ForwardAnswer lock(ForwardClient& client, const ForwardCallMessage& call);
  ForwardAnswer remove(const ForwardCallMessage& call);

  Engine& engine_;
  ForwardFiles& files_;
};

}  // namespace tailrace::impl
