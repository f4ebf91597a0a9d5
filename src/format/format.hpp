// The format port: where blocks lie in files, and what else the files hold. Blocks in, extents and metadata out.
//
// A format moves no bytes of blocks and does no I/O on the files it writes: it answers with extents and with the
// bytes of the metadata, and its caller sends both through the engine. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/block.hpp"
#include "model/request.hpp"

namespace tailrace::impl {

// The file of an iteration: written as `temporary`, and published as `final_path`.
struct FileNames {
  std::string temporary;
  std::string final_path;
  std::string directory;
  uint32_t device = 0;
};

struct MetadataPiece {
  uint64_t offset = 0;
  std::vector<std::byte> bytes;
};

// What completes a file. `head` is written last, after everything else has been: without it no reader takes the file
// for one of this format.
struct FileEnding {
  std::vector<MetadataPiece> body;
  MetadataPiece head;
};

// Where an earlier block lies.
struct Located {
  std::string file;
  Extent extent;
};

class Format {
 public:
  virtual ~Format() = default;

  // The file of an iteration that has begun and is not finished or discarded.
  virtual const FileNames& names(int64_t iteration) const = 0;

  // Where the bytes of the block go in its iteration's file; the same place for the same variable each time. The
  // first block of an iteration begins its file.
  virtual Result<Extent> place(const Block& block) = 0;
  // Records an event in the iteration's file, beginning it if need be.
  virtual Status note_event(int64_t iteration, const std::string& event) = 0;
  // Ends the iteration's file, which has begun.
  virtual Result<FileEnding> finish(int64_t iteration) = 0;
  // Forgets the iteration's file, whether or not it has begun.
  virtual void discard(int64_t iteration) = 0;

  // Where a block of a finished or unfinished iteration lies; TAILRACE_NOT_FOUND if nowhere.
  virtual Result<Located> locate(const Block& block) = 0;
  // The bytes of this block were lost: from now on locate() does not find it.
  virtual void forget(const Block& block, const Status& why) = 0;
};

}  // namespace tailrace::impl
