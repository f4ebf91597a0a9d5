// The directories of a client's files, and its name in each: taken at open, given back at close.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "base/status.hpp"
#include "model/config/config.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl {

// Creates the output directories that do not exist.
Status make_output_directories(const Config& config, FileSystem& files);

// Creates the directories, and locks the name of the writer in each: "c3" for client 3, "n0" for node 0, "job" for a
// job. Returns TAILRACE_CLIENT_IN_USE if another process holds the lock. `client`: for the names of its own files.
// The file system outlives the locks.
Result<std::vector<std::unique_ptr<NameLock>>> take_output_directories(const Config& config, FileSystem& files,
                                                                       const std::string& who, int client, Log& log);

// Returns ok unless the lock of an earlier server of this node, one of several, has gone from a directory. While the
// server's data wait in shared memory, its lock stays: so a user has removed it, or the directory, to give them up.
Status check_not_given_up(const Config& config, const FileSystem& files, const std::string& who);

// A lock's file: the machine of its holder, and the pattern of the files of the format plain that it writes; "" if
// they are not there.
struct LockText {
  std::string machine;
  std::string pattern;
};
LockText text_of_lock(FileSystem& files, const std::string& path);

// The lock of a node that writes files of a pattern together with others. While it is there, the node may still write
// its part of them: it is alive, or the data wait in its shared memory.
struct NodeOfFiles {
  uint32_t node = 0;
  std::string lock;     // the path
  std::string machine;  // the one that it runs on, or ran on
  bool opened = false;  // its mark says so
};

// Returns the nodes whose locks are in the directory and name this pattern.
Result<std::vector<NodeOfFiles>> nodes_of_files(FileSystem& files, const std::string& directory,
                                                std::string_view pattern);
// Returns the first of these nodes that has not opened the next run nor published its part of the unfinished file;
// none if there is none.
std::optional<NodeOfFiles> node_awaited(const FileSystem& files, const std::vector<NodeOfFiles>& nodes,
                                        const std::string& unfinished);

// Marks in the directory that this node has opened the next run: it has written all that an earlier one had left in
// its memory. The mark counts while the node's lock is held. Returns the paths of the marks if all nodes of the run
// have theirs, so that this one is the last to open; else none. It removes them when it has made way: from then on
// each node may have data that others must wait for.
Result<std::vector<std::string>> mark_opened(const Config& config, FileSystem& files, const std::string& directory,
                                             int client);
// Returns the path of the mark of a node with this lock.
std::string mark_path(const std::string& lock);

// Returns true if the name is that of an unfinished file of this pattern, or of the XDMF file beside one.
bool is_part_of(std::string_view pattern, std::string_view name);

}  // namespace tailrace::impl
