// RemoteOperations: operations on whole files, carried out by calls of forwarders without waiting for their answers.
//
// Where a file is not where it is expected, or its forwarder is lost on the way, the operation is carried out by the
// calls of RemoteFiles, which wait: they look for what an interrupted call has done. One thread, the engine's.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <set>

#include "storage/file_operation.hpp"
#include "storage/remote/forwarder_set.hpp"
#include "storage/remote/remote_files.hpp"

namespace tailrace::impl {

class RemoteOperations {
 public:
  // Borrows both.
  RemoteOperations(ForwarderSet& forwarders, RemoteFiles& files) : forwarders_(forwarders), files_(files) {}

  void begin(FileOperation operation);
  // Takes the answer to a call; none: the call's link is gone.
  void answered(uint64_t call, const std::optional<ForwardAnswer>& answer);
  // Completes what is answered. Call it after the files of lost forwarders have moved. Returns true if there are
  // ends.
  bool progress();
  std::optional<FileOperationEnd> reap();

 private:
  struct UnderWay {
    FileOperation what;
    std::set<uint64_t> calls;  // that are not answered
    uint64_t deciding = 0;     // whose answer is the operation's; 0: it cannot fail
    bool is_lost = false;      // it is unknown whether that was carried out
    Status status = {};
    size_t forwarder = 0;  // that has the name, and its link
    uint64_t link = 0;
    ForwardAnswer answer = {};
  };

  static bool is_of_name(const FileOperation& operation);
  bool is_regular(const FileOperation& operation) const;
  void send(UnderWay& of);
  void send_name(UnderWay& of);
  void send_closes(UnderWay& of);
  FileOperationEnd complete(const UnderWay& of);

  ForwarderSet& forwarders_;
  RemoteFiles& files_;
  std::list<UnderWay> under_way_;
  std::deque<FileOperationEnd> ended_;
};

}  // namespace tailrace::impl
