// Format: the port that decides where blocks lie in files, and what else the files contain.
//
// A format moves no bytes of blocks and does no I/O on the files that it plans. It returns extents and the bytes of
// the metadata, and its caller sends both through the engine. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "filter/pipeline.hpp"
#include "model/attribute.hpp"
#include "model/block.hpp"
#include "model/request.hpp"
#include "model/variable.hpp"

namespace tailrace::impl {

// The file of an iteration: written as `temporary`, published as `final_path`. The names are the same if the file has
// been published with other iterations.
struct FileNames {
  std::string temporary;
  std::string final_path;
  std::string directory;
  uint32_t device = 0;
  bool joint = false;  // other nodes write it, too: this one neither empties, publishes nor removes it

  bool is_published() const { return temporary == final_path; }
};

// Immutable bytes, which several plans may share.
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

// One step of a publication. A publish, a close, and a write that is `after_others`, take effect after all earlier
// writes into their file, including blocks; other writes may run beside those. A step that shows the iteration, and
// one on another file than the step before it, begin when all earlier steps have ended.
struct PublicationStep {
  enum class Kind : uint8_t {
    write,    // the pieces, into the file
    publish,  // the file gets its final name, and is closed
    close     // the file, which has its final name, is closed
  };
  Kind kind = Kind::write;
  uint32_t file = 0;  // its number in Format::files
  bool after_others = false;
  std::vector<MetadataPiece> pieces;
  bool shows = false;  // the write shows the iteration to readers, as a publish does
};

// The steps that make an iteration visible. Before the last one that shows it, no reader takes any file for a part
// of it. The plan publishes or closes every file of the iteration.
struct PublicationPlan {
  std::vector<PublicationStep> steps;
};

// A file that several nodes have written, and the plan that makes it whole and visible.
struct JointPublication {
  std::vector<FileNames> files;  // by the plan's numbers; the first one is there
  PublicationPlan plan;
};

// The destination of bytes: a file of the iteration, by its number in Format::files, and extents in it.
struct Placement {
  uint32_t file = 0;
  std::vector<Extent> extents;
};

// The location of an earlier block, as Format::place assigned it.
struct Located {
  std::string path;   // path of the published file
  uint32_t file = 0;  // number of the unfinished file, as in Placement
  std::vector<Extent> extents;
};

// The location of a chunk of a filtered block, the filters that were not applied to it (FilteredChunk), and, while
// its file is unfinished, the effort of filtering. Length 0: the chunk never came.
struct PlacedChunk {
  Extent extent;
  uint32_t skipped = 0;
  Effort effort = Effort::full;
};

struct LocatedChunks {
  std::string path;  // as in Located
  uint32_t file = 0;
  std::vector<PlacedChunk> chunks;  // all chunks of the block, in the order of its Chunking
};

// A result that an action has computed for an iteration.
using FindingValue = std::variant<double, std::string, std::vector<double>>;

// Returns true if a block is filtered, and so stored in chunks. A block without elements is not.
inline bool is_in_chunks(const Variable& variable, const Layout& layout) {
  return variable.filtered() && !layout.empty();
}

// An attribute that a client has set.
struct AttributeNote {
  int64_t iteration = 0;
  int client = 0;
  std::optional<Block> block;  // the attribute belongs to its dataset; none: to the iteration
  Attribute attribute;
};

class Format {
 public:
  // The most files of an iteration.
  static constexpr size_t kMostFiles = 4;

  virtual ~Format() = default;

  // Returns the file of an iteration that has been published and has no unfinished file; else none.
  virtual std::optional<FileNames> published(int64_t iteration) const = 0;
  // Returns true if the iteration has begun and is neither finished nor discarded.
  virtual bool begun(int64_t iteration) const = 0;
  // Returns the files of an iteration that has begun and is neither finished nor discarded. Later blocks may add
  // files.
  virtual const std::vector<FileNames>& files(int64_t iteration) const = 0;

  // Returns the place of the block's bytes: extents in ascending order; none if there are no bytes. The same variable
  // gets the same place each time. The first block of an iteration begins the iteration. Not for blocks in chunks
  // (is_in_chunks()), whose sizes are not known in advance. Fails with TAILRACE_WRONG_SHAPE if an earlier block of
  // this client and variable had another layout.
  virtual Result<Placement> place(const Block& block) = 0;
  // Returns the places of the chunks first, first + 1, … of a block in chunks, after they have been filtered
  // (filter/pipeline.hpp has the whole sequence): one extent per chunk, as long as the chunk. `loss` is the effect of
  // rounding on these chunks, and is recorded in the file. A chunk that comes again may get another place.
  virtual Result<Placement> place_chunks(const Block& block, uint64_t first, std::span<const FilteredChunk> chunks,
                                         const Loss& loss) = 0;
  // Records an event in the iteration's file, and begins the iteration if necessary.
  virtual Status note_event(int64_t iteration, const std::string& event) = 0;
  // Records an attribute in the iteration's file, and begins the iteration if necessary. Of a dataset it is recorded
  // if a block of that comes. The client's later value replaces an earlier one. Fails with TAILRACE_INVALID_ARGUMENT
  // if another client has set another value.
  virtual Status note_attribute(const AttributeNote& note) = 0;
  // Records a finding of the action `by` in the file of an iteration that has begun, and replaces an earlier one of
  // that name. Fails with TAILRACE_INVALID_ARGUMENT if another action has one of that name. If it fails, the file is
  // unaffected.
  virtual Status note_finding(int64_t iteration, const std::string& by, const std::string& name,
                              const FindingValue& value) = 0;
  // Records in the file of an iteration that has begun that blocks of these clients may be missing, since they died
  // or never came. `unnamed` counts further clients that never came, whose numbers are unknown.
  virtual void note_missing(int64_t iteration, const std::vector<int>& clients, uint32_t unnamed) = 0;
  // Ends the iteration, which has begun. Returns the plan that publishes it.
  virtual Result<PublicationPlan> finish(int64_t iteration) = 0;
  // Begins an iteration of which no block has come, if it takes a file nevertheless. Returns true if it has begun.
  virtual bool begin_empty(int64_t) { return false; }
  // If several nodes write the iteration's file: returns its completion, if all of them have carried out their plans
  // and none has completed it yet. Reads what they have left beside the file. Two nodes may both get it: they make
  // the same file, and one of them fails to publish it.
  virtual Result<std::optional<JointPublication>> complete(int64_t) { return std::optional<JointPublication>(); }
  // Returns true if such a file is complete, and removes what was left beside it.
  virtual bool is_complete(int64_t) { return false; }
  // Notes that the plan of a finished iteration has ended: that it was carried out, or that it failed.
  virtual void ended(int64_t iteration, bool published) = 0;
  // Forgets the iteration's files, whether or not it has begun.
  virtual void discard(int64_t iteration) = 0;

  // Returns the location of a block of a finished or unfinished iteration. Fails with TAILRACE_NOT_FOUND if there is
  // none, and with TAILRACE_WRONG_SHAPE if it was written with another shape. Not for blocks in chunks.
  virtual Result<Located> locate(const Block& block) = 0;
  // Locates a block that is in chunks.
  virtual Result<LocatedChunks> locate_chunks(const Block& block) = 0;
  // Notes that the bytes of this block were lost: locate() and locate_chunks() no longer find it.
  virtual void forget(const Block& block, const Status& why) = 0;
};

}  // namespace tailrace::impl
