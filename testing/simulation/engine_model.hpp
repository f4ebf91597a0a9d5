// EngineModel: the plain model of the engine: requests in the order they were made, and for each byte of a file, the
// request that wrote it last. Pure book-keeping; EngineRun uses it.
#pragma once

#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "model/request.hpp"
#include "testing/simulation/contents.hpp"

namespace tailrace::impl::simulation {

using StepNumber = uint32_t;  // of a request, from 1; 0: none

// A request, as the model remembers it. Its bytes are byte_of(number, offset in the file).
struct EngineStep {
  StepNumber number = 0;
  size_t file = 0;
  Operation operation = Operation::write;
  uint32_t client = 0;
  std::vector<Piece> pieces;
  std::unique_ptr<std::byte, void (*)(void*)> memory{nullptr, std::free};
  std::vector<StepNumber> before;  // for a read or sync: the writer of each byte when it was made
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
  bool over = false;    // its publish, close or remove was submitted …
  bool gone = false;    // … and has ended
  bool failed = false;  // a request other than a read has failed
  bool published = false;
  bool removed = false;
  bool name_is_durable = false;
  std::vector<StepNumber> writers;  // the last writer of each byte
  std::vector<StepNumber> synced;   // the same, as of the last successful sync
  StepNumber synced_by = 0;

  std::string part() const { return name + ".part"; }
};

struct EngineModel {
  std::deque<EngineStep> steps;  // by number − 1
  std::deque<EngineFile> files;

  EngineStep& step(StepNumber number) { return steps[number - 1]; }

  // Puts the bytes that the step writes into its memory.
  static void fill(const EngineStep& step) {
    for (const Piece& piece : step.pieces) {
      for (uint64_t i = 0; i < piece.extent.length; ++i) {
        piece.memory[i] = byte_of(step.number, piece.extent.offset + i);
      }
    }
  }

  // Returns true if `found` is possible for the byte at `offset`: what `writer` wrote, or anything if that write
  // failed.
  bool may_be(std::byte found, StepNumber writer, uint64_t offset) {
    return (writer > 0 && step(writer).failed) || found == byte_of(writer, offset);
  }
};

}  // namespace tailrace::impl::simulation
