#include "mpiio/types/flat_type.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include "process_client/bytes/extents.hpp"

namespace tailrace::mpiio {

// Makes runs of pieces. Flattens each child once, and then copies its runs.
class FlatType::Builder {
 public:
  explicit Builder(std::vector<Run>& runs) : runs_(runs) {}

  void add(const TypeTree& tree) {
    for (const TypeBytes& bytes : tree.bytes) add_piece(bytes.displacement, bytes.length);
    for (const TypePart& part : tree.parts) {
      const FlatType& child = flat(part.child);
      for (int64_t i = 0; i < part.repeats; ++i) {
        for (const TypeBlock& block : part.blocks) {
          add_copies(child, i * part.stride + block.displacement, block.count);
        }
      }
    }
  }

 private:
  const FlatType& flat(const TypePointer& child) {
    std::unique_ptr<const FlatType>& known = flat_[child.get()];
    if (known == nullptr) known = std::make_unique<const FlatType>(*child);
    return *known;
  }

  void add_copies(const FlatType& type, int64_t at, int64_t count) {
    if (type.size() == 0 || count <= 0) return;
    if (type.is_contiguous())
      return add_piece(at + type.runs()[0].offset, type.size() * static_cast<uint64_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      for (const Run& run : type.runs()) add_run(at + i * type.extent() + run.offset, run);
    }
  }

  // Adds the pieces of a run, from `offset` on.
  void add_run(int64_t offset, const Run& run) {
    if (run.count == 1 || (!runs_.empty() && offset == end_of(runs_.back()))) {
      for (uint64_t i = 0; i < run.count; ++i) add_piece(offset + static_cast<int64_t>(i) * run.stride, run.length);
    } else if (!runs_.empty() && goes_on(runs_.back(), offset, run)) {
      runs_.back().stride = run.stride;
      runs_.back().count += run.count;
    } else {
      runs_.push_back({offset, run.length, run.stride, run.count});
    }
  }

  // Returns true if the pieces of `run`, from `offset` on, go on as those of `last` do.
  static bool goes_on(const Run& last, int64_t offset, const Run& run) {
    return last.length == run.length && offset == last_offset(last) + run.stride &&
           (last.count == 1 || last.stride == run.stride);
  }

  void add_piece(int64_t offset, uint64_t length) {
    if (length == 0) return;
    if (runs_.empty()) return runs_.push_back({offset, length, 0, 1});
    Run& last = runs_.back();
    const int64_t end = end_of(last);
    if (offset == end) return lengthen(length);
    if (length == last.length && continues(last, offset)) {
      if (last.count == 1) last.stride = offset - last.offset;
      ++last.count;
      return;
    }
    runs_.push_back({offset, length, 0, 1});
  }

  static int64_t last_offset(const Run& run) { return run.offset + static_cast<int64_t>(run.count - 1) * run.stride; }
  static int64_t end_of(const Run& run) { return last_offset(run) + static_cast<int64_t>(run.length); }
  static bool continues(const Run& run, int64_t offset) {
    return run.count == 1 || offset == last_offset(run) + run.stride;
  }

  // Makes the last piece longer, which then is of no run.
  void lengthen(uint64_t length) {
    Run& last = runs_.back();
    if (last.count == 1) {
      last.length += length;
      return join_lengthened();
    }
    const Run piece{last_offset(last), last.length + length, 0, 1};
    --last.count;
    runs_.push_back(piece);
  }

  // A piece that has become as long as those of the run before it may belong to that run.
  void join_lengthened() {
    if (runs_.size() < 2) return;
    Run& before = runs_[runs_.size() - 2];
    const Run& last = runs_.back();
    if (last.length != before.length || !continues(before, last.offset)) return;
    if (before.count == 1) before.stride = last.offset - before.offset;
    ++before.count;
    runs_.pop_back();
  }

  std::vector<Run>& runs_;
  std::map<const TypeTree*, std::unique_ptr<const FlatType>> flat_;  // the children
};

FlatType::FlatType(const TypeTree& tree) : extent_(tree.extent) {
  Builder(runs_).add(tree);
  before_.reserve(runs_.size());
  for (const Run& run : runs_) {
    before_.push_back(size_);
    size_ += run.bytes();
    pieces_ += run.count;
  }
}

bool FlatType::is_contiguous() const {
  if (size_ == 0) return true;
  return runs_.size() == 1 && runs_[0].count == 1 && static_cast<int64_t>(size_) == extent_;
}

bool FlatType::ascends() const {
  if (size_ == 0) return true;
  int64_t end = runs_[0].offset;
  for (const Run& run : runs_) {
    if (run.offset < end) return false;
    if (run.count > 1 && run.stride < static_cast<int64_t>(run.length)) return false;
    end = run.offset + static_cast<int64_t>(run.count - 1) * run.stride + static_cast<int64_t>(run.length);
  }
  return runs_[0].offset + extent_ >= end;
}

template <class Act>
void FlatType::walk(uint64_t begin, uint64_t length, Act act) const {
  if (length == 0 || size_ == 0) return;
  int64_t copy = static_cast<int64_t>(begin / size_) * extent_;
  uint64_t within = begin % size_;
  size_t index = static_cast<size_t>(std::upper_bound(before_.begin(), before_.end(), within) - before_.begin()) - 1;
  uint64_t skip = within - before_[index];
  while (length > 0) {
    const Run& run = runs_[index];
    uint64_t within_piece = skip % run.length;
    for (uint64_t i = skip / run.length; i < run.count && length > 0; ++i) {
      const uint64_t part = std::min(run.length - within_piece, length);
      act(copy + run.offset + static_cast<int64_t>(i) * run.stride + static_cast<int64_t>(within_piece), part);
      length -= part;
      within_piece = 0;
    }
    skip = 0;
    if (++index == runs_.size()) {
      index = 0;
      copy += extent_;
    }
  }
}

void FlatType::find(uint64_t begin, uint64_t length, uint64_t base, std::vector<tailrace_extent>& out) const {
  walk(begin, length, [base, &out](int64_t offset, uint64_t bytes) {
    process::append(out, {base + static_cast<uint64_t>(offset), bytes});
  });
}

uint64_t FlatType::below(uint64_t offset) const {
  if (size_ == 0) return 0;
  const int64_t first = runs_[0].offset;
  const int64_t past = static_cast<int64_t>(offset) - first;
  if (past <= 0) return 0;
  const uint64_t copies = static_cast<uint64_t>(past / extent_) * size_;
  const int64_t at = past % extent_ + first;
  const auto next = std::upper_bound(runs_.begin(), runs_.end(), at,
                                     [](int64_t offset_in, const Run& run) { return offset_in < run.offset; });
  const auto index = static_cast<size_t>(next - runs_.begin()) - 1;
  const Run& run = runs_[index];
  const auto within = static_cast<uint64_t>(at - run.offset);
  uint64_t piece = 0;
  if (run.count > 1) piece = std::min(within / static_cast<uint64_t>(run.stride), run.count - 1);
  const uint64_t rest = within - piece * static_cast<uint64_t>(run.stride);
  return copies + before_[index] + piece * run.length + std::min(rest, run.length);
}

void FlatType::gather(const std::byte* memory, uint64_t begin, uint64_t length, std::byte* out) const {
  walk(begin, length, [memory, &out](int64_t offset, uint64_t bytes) {
    std::memcpy(out, memory + offset, bytes);
    out += bytes;
  });
}

void FlatType::scatter(const std::byte* from, uint64_t begin, uint64_t length, std::byte* memory) const {
  walk(begin, length, [memory, &from](int64_t offset, uint64_t bytes) {
    std::memcpy(memory + offset, from, bytes);
    from += bytes;
  });
}

}  // namespace tailrace::mpiio
