// StoreClient: a client of tailrace that writes the blocks of one store. Each call returns a code of Damaris.
#pragma once

#include <tailrace/tailrace.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "damaris/output/configuration.hpp"
#include "damaris/run/client_block.hpp"
#include "damaris/run/outcome.hpp"

namespace tailrace::damaris {

class StoreClient {
 public:
  // Opens client `client`. Throws Failure. Borrows the model. `present` returns the present values of parameters.
  StoreClient(const Model& model, const Outlet& outlet, int client, Expression::Lookup present);
  StoreClient(const StoreClient&) = delete;
  StoreClient& operator=(const StoreClient&) = delete;
  ~StoreClient();

  // `index` is that of the block in blocks_of(). Throw ExpressionError if the block has no shape now. A block whose
  // write or commit was not carried out can be written or committed again.
  Outcome write(size_t index, ClientBlock& block, int64_t iteration, const void* data);
  int alloc(size_t index, ClientBlock& block, int64_t iteration, void** memory);
  Outcome commit(size_t index, ClientBlock& block, int64_t iteration);
  int clear(size_t index, int64_t iteration);
  // Returns the memory of a block that is allocated, also if it is committed and not cleared; else nullptr.
  const void* memory_of(size_t index, int64_t iteration);
  // `wait`: until all is written.
  int end_iteration(int64_t iteration, bool wait);
  int close();

 private:
  // Memory that the program has: of the pool, or the program's own for blocks with ghosts, which are cut on commit.
  struct Lent {
    int64_t iteration = 0;
    BlockShape shape;
    void* data = nullptr;
    tailrace_memory* memory = nullptr;
    std::unique_ptr<std::byte[]> own;
    bool committed = false;
  };
  struct Target {
    StoredBlock names;
    std::vector<int64_t> sent;    // the numbers of its layout that tailrace has
    std::vector<Lent> lent;       // of iterations that are not cleared
    std::optional<int64_t> left;  // the iteration of a block in tailrace's memory whose commit was refused
  };

  Outcome place(Target& target, const BlockShape& shape, const std::vector<int64_t>& position, int64_t iteration);
  Outcome tell_globals(int64_t iteration);
  Outcome copy_without_ghosts(Target& target, const BlockShape& shape, size_t element, int64_t iteration,
                              const void* data);
  Outcome outcome_of(tailrace_status status, const char* call);
  static Lent* find(Target& target, int64_t iteration);
  static void release(Lent& lent);
  int discard(const Target& target, int64_t iteration);
  int take_back(int64_t iteration);
  int tell_ends();

  const bool scripts_;     // the blocks are for scripts
  const bool shared_;      // a file for all, or scripts: blocks have positions in whole arrays
  const bool positioned_;  // XDMF files show where blocks are
  // Several nodes write the file: then tailrace knows the global shapes of all blocks before the first one of an
  // iteration comes, and iterations in which nothing is stored are not ended.
  const bool joint_;
  int64_t placed_ = -1;        // the iteration whose global shapes it knows
  std::vector<int64_t> ends_;  // of iterations that tailrace does not know yet, since it refused the call
  const int64_t frequency_;
  const Expression::Lookup present_;    // the present values of parameters
  std::vector<const Layout*> layouts_;  // by block
  std::vector<Target> targets_;
  tailrace_client* client_ = nullptr;
};

}  // namespace tailrace::damaris
