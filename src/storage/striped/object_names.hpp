// ObjectNames: where the objects of striped files lie: as the configuration says, else as the heads do. Reads the
// heads of files, and removes objects.
//
// StripedFileSystem asks it. It keeps no file open, and changes nothing else.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/file_system.hpp"
#include "storage/striped/object_head.hpp"

namespace tailrace::impl {

// The directories over which new files are striped, and how.
struct StripeSet {
  std::vector<std::string> directories = {};  // one a device; the first has the files' names. None: as heads say
  std::vector<std::string> recorded = {};     // the same, absolute, for the heads
  uint64_t unit = 0;                          // bytes of a stripe
  std::function<std::string()> new_id = {};   // makes the id of a file; each differs from all others
};

class ObjectNames {
 public:
  // `inner` must outlive this.
  ObjectNames(FileSystem& inner, StripeSet set) : inner_(inner), set_(std::move(set)) {}

  const std::vector<std::string>& directories() const { return set_.directories; }
  // Returns true if new files of that path are striped: it is below the first directory.
  bool stripes(const std::string& path) const;
  // Returns how many objects a file may have to be opened.
  uint32_t most_objects() const;
  // Returns the paths of the objects beside object 0: in the directories of the set, and those for which it has none,
  // in those of the head.
  std::vector<std::string> others_of(const ObjectHead& head) const;

  // Returns the head of object 0 of a new file.
  ObjectHead new_head(const std::string& path) const;
  // Returns none if the open file, or the one at `path`, is no object.
  Result<std::optional<ObjectHead>> head_of(FileHandle object, const std::string& path) const;
  Result<std::optional<ObjectHead>> head_at(const std::string& path, OpenMode mode) const;
  // Returns the head of a file of this user that ends with this name; none for all others. Objects stay if the file
  // has other names, or is another user's.
  std::optional<ObjectHead> head_of_sole_name(const std::string& path) const;
  // Returns ok if the open object is the one with this index of the file that `head` describes.
  Status expect_object(FileHandle object, const std::string& path, const ObjectHead& head, uint32_t index) const;

  // Removes the objects beside object 0. Those that cannot be removed stay without a file, which does no harm and
  // takes space.
  void remove_others(const ObjectHead& head) const;

 private:
  FileSystem& inner_;
  const StripeSet set_;
};

}  // namespace tailrace::impl
