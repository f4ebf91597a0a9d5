// WholeLists: has an object hand a list of numbers to its stream as one piece of memory, though the file is ascii.
//
// OpenFOAM writes the name of a list's type first ("List<vector>"), and asks the stream for its format before it
// writes the list (UList::writeList). To an ascii stream it gives each number by several calls, and to a binary one
// the bytes of all. So the stream says it is binary from such a name until the bytes have come. They are recorded,
// and the writer makes the text of them that UList::writeList makes. Anything else that comes in between, such as no
// bytes at all, ends that, and is written as usual.
#pragma once

#include <word.H>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "openfoam/output/recording.hpp"

namespace tailrace::openfoam {

class WholeLists {
 public:
  explicit WholeLists(Recording& recording) : recording_(recording) {}

  // Returns true if the text is the name of a type whose lists are taken. The stream is to be binary from now on.
  bool begins(const Foam::word& text);
  bool active() const { return step_ != Step::none; }

  // The stream passes letters and numbers while a list is active. False: it was no part of the list, which is to end.
  // The newline behind a length of 0 ends the list.
  bool takes(char letter);
  bool takes(int64_t length);
  // Returns true if that many bytes belong to the list. They come at once, or are gathered.
  bool expects(size_t bytes) const { return step_ == Step::ready && bytes == size_t(length_) * row_.bytes(); }
  void record(const std::byte* numbers, int precision);
  void begin_gathering() { step_ = Step::gathering; }
  bool gathers() const { return step_ == Step::gathering; }
  void gather(const std::byte* numbers, size_t bytes) { gathered_.insert(gathered_.end(), numbers, numbers + bytes); }
  // False: the list's bytes have not all come.
  bool record_gathered(int precision);
  // Ends the list. If its bytes have not come, what was expected before them is recorded.
  void leave();

 private:
  // The latest part that came. A list in a binary file: name, space, newline, length, newline, bytes.
  enum class Step { none, name, space, newline, length, ready, gathering };

  bool step(Step from, Step to);

  Recording& recording_;
  Step step_ = Step::none;
  Row row_;
  int64_t length_ = 0;
  std::vector<std::byte> gathered_;
};

}  // namespace tailrace::openfoam
