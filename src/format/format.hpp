// The format port: where blocks lie in files, and what else the files hold. Blocks in, extents and metadata out.
//
// A format moves no bytes of blocks and does no I/O on the files it writes: it answers with extents and with the
// bytes of the metadata, and its caller sends both through the engine. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "filter/pipeline.hpp"
#include "model/block.hpp"
#include "model/config.hpp"
#include "model/request.hpp"

namespace tailrace::impl {

// The file of an iteration: written as `temporary`, and published as `final_path`.
struct FileNames {
  std::string temporary;
  std::string final_path;
  std::string directory;
  uint32_t device = 0;
};

// Bytes that nobody changes any more: several plans may hold the same ones.
class SharedBytes {
 public:
  SharedBytes() = default;
  SharedBytes(std::vector<std::byte> bytes)  // NOLINT(google-explicit-constructor): they are the same bytes
      : bytes_(std::make_shared<const std::vector<std::byte>>(std::move(bytes))) {}

  std::span<const std::byte> all() const { return bytes_ ? std::span(*bytes_) : std::span<const std::byte>(); }
  const std::byte* data() const { return all().data(); }
  size_t size() const { return all().size(); }

 private:
  std::shared_ptr<const std::vector<std::byte>> bytes_;
};

struct MetadataPiece {
  uint64_t offset = 0;
  SharedBytes bytes;

  uint64_t end() const { return offset + bytes.size(); }
};

// One step of a publication. A publish, and a write that is `after_others`, take effect after everything that was
// written into their file before, blocks too; other writes go beside those. A step on another file than the step
// before it begins when all steps before it have ended.
struct PublicationStep {
  enum class Kind : uint8_t {
    write,   // the pieces, into the file
    publish  // the file gets its final name, and is closed
  };
  Kind kind = Kind::write;
  uint32_t file = 0;  // by its number in Format::files
  bool after_others = false;
  std::vector<MetadataPiece> pieces;
};

// The steps that make an iteration visible; the last one does. Before that no reader takes anything for a part of it.
// It publishes every file of the iteration.
struct PublicationPlan {
  std::vector<PublicationStep> steps;
};

// Where bytes of an iteration go: into which of its files, by its number in Format::files, and where there.
struct Placement {
  uint32_t file = 0;
  std::vector<Extent> extents;
};

// Where an earlier block lies, as Format::place has it.
struct Located {
  std::string path;   // of the published file
  uint32_t file = 0;  // of the unfinished one, as Placement has it
  std::vector<Extent> extents;
};

// Where a chunk of a filtered block lies, which filters were not applied to it (FilteredChunk), and, while its file
// is being written, with how much effort it was filtered. Length 0: no such chunk came.
struct PlacedChunk {
  Extent extent;
  uint32_t skipped = 0;
  Effort effort = Effort::full;
};

struct LocatedChunks {
  std::string path;  // as in Located
  uint32_t file = 0;
  std::vector<PlacedChunk> chunks;  // all of the block's, in the order of its Chunking
};

// Something that an action has found out about an iteration.
using FindingValue = std::variant<double, std::string, std::vector<double>>;

// Returns true if a block is filtered, and so stored chunk by chunk. A block without elements has nothing to filter.
inline bool is_in_chunks(const Variable& variable, const Layout& layout) {
  return variable.filtered() && !layout.empty();
}

class Format {
 public:
  // The most files that an iteration has.
  static constexpr size_t kMostFiles = 4;

  virtual ~Format() = default;

  // Returns true if the iteration has been published, and there is no unfinished file of it.
  virtual bool published(int64_t iteration) const = 0;
  // Returns true if the iteration has begun, and is not finished or discarded.
  virtual bool begun(int64_t iteration) const = 0;
  // Returns the files of an iteration that has begun and is not finished or discarded. More may be added as blocks
  // come.
  virtual const std::vector<FileNames>& files(int64_t iteration) const = 0;

  // Where the bytes of the block go, one extent after the other, each behind the one before; none if there are no
  // bytes. The same places for the same variable each time. The first block of an iteration begins it. Not for blocks
  // in chunks, see is_in_chunks(): what they need is not known before. TAILRACE_WRONG_SHAPE if a block of this client
  // and variable with another layout came before.
  virtual Result<Placement> place(const Block& block) = 0;
  // Where the bytes of the chunks first, first + 1, … of a block that is in chunks go, after they have been
  // filtered (filter/pipeline.hpp has the whole sequence); one extent a chunk, as long as the chunk. `loss` is what
  // rounding has done to these chunks, and noted in the file. A chunk that comes again may get another place.
  virtual Result<Placement> place_chunks(const Block& block, uint64_t first, std::span<const FilteredChunk> chunks,
                                         const Loss& loss) = 0;
  // Records an event in the iteration's file, beginning it if need be.
  virtual Status note_event(int64_t iteration, const std::string& event) = 0;
  // Records a finding in the iteration's file, which has begun, in place of an earlier one of that name. If it fails,
  // the file is as whole as it was.
  virtual Status note_finding(int64_t iteration, const std::string& name, const FindingValue& value) = 0;
  // Records in the iteration's file, which has begun, that blocks of these clients may be missing, since they died or
  // never came; and those of `unnamed` more that never came, whose numbers nobody knows.
  virtual void note_missing(int64_t iteration, const std::vector<int>& clients, uint32_t unnamed) = 0;
  // Ends the iteration, which has begun. Returns the plan that publishes it.
  virtual Result<PublicationPlan> finish(int64_t iteration) = 0;
  // Forgets the iteration's files, whether or not it has begun.
  virtual void discard(int64_t iteration) = 0;

  // Where a block of a finished or unfinished iteration lies; TAILRACE_NOT_FOUND if nowhere, TAILRACE_WRONG_SHAPE if
  // it was written with another shape. Not for blocks in chunks.
  virtual Result<Located> locate(const Block& block) = 0;
  // Locates a block that is in chunks.
  virtual Result<LocatedChunks> locate_chunks(const Block& block) = 0;
  // The bytes of this block were lost: from now on locate() and locate_chunks() do not find it.
  virtual void forget(const Block& block, const Status& why) = 0;
};

}  // namespace tailrace::impl
