// The plain model of what the engine does: requests in the order they were made, and for each byte of a file, which
// of them wrote it last. Pure book-keeping; EngineRun asks it.
#pragma once

#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "model/request.hpp"
#include "testing/simulation/contents.hpp"

namespace tailrace::impl::simulation {

using StepNumber = uint32_t;  // of a request, from 1; 0: nobody

// A request, as the model remembers it. Its bytes are byte_of(number, offset in the file).
struct EngineStep {
  StepNumber number = 0;
  size_t file = 0;
  Operation operation = Operation::write;
  uint32_t client = 0;
  std::vector<Piece> pieces;
  std::unique_ptr<std::byte, void (*)(void*)> memory{nullptr, std::free};
  std::vector<StepNumber> before;  // read, sync: who had written each byte when it was made
  bool ended = false;
  bool failed = false;

  bool covers(uint64_t offset) const {
    for (const Piece& piece : pieces) {
      if (piece.extent.offset <= offset && offset < piece.extent.end()) return true;
    }
    return false;
  }
};

struct EngineFile {
  std::string name;
  FileId id = 0;
  bool over = false;    // a publish, close or remove of it has been submitted …
  bool gone = false;    // … and has ended
  bool failed = false;  // something of it other than a read has failed
  bool published = false;
  bool removed = false;
  bool name_is_durable = false;
  std::vector<StepNumber> writers;  // by byte, the last to write it
  std::vector<StepNumber> synced;   // by byte, as of the last sync that ended well
  StepNumber synced_by = 0;

  std::string part() const { return name + ".part"; }
};

struct EngineModel {
  std::deque<EngineStep> steps;  // by number − 1
  std::deque<EngineFile> files;

  EngineStep& step(StepNumber number) { return steps[number - 1]; }

  // The bytes that the step writes, put into its memory.
  static void fill(const EngineStep& step) {
    for (const Piece& piece : step.pieces) {
      for (uint64_t i = 0; i < piece.extent.length; ++i) {
        piece.memory[i] = byte_of(step.number, piece.extent.offset + i);
      }
    }
  }

  // Returns true if `found` may be the byte at `offset`: what `writer` wrote, or anything if that failed.
  bool may_be(std::byte found, StepNumber writer, uint64_t offset) {
    return (writer > 0 && step(writer).failed) || found == byte_of(writer, offset);
  }
};

}  // namespace tailrace::impl::simulation
