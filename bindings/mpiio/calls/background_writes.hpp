// BackgroundWrites: the requests of nonblocking writes, and the collective writes in the background: nonblocking
// ones, and split ones between their begin and their end.
//
// A collective write whose processes exchange data goes on inside the program's calls of MPI: each calls progress().
// Any thread may call. A request is a generalized one, which is completed in such a call.
#pragma once

#include <atomic>
#include <list>
#include <memory>

#include "mpiio/files/open_file.hpp"
#include "mpiio/mpi/mpi_header.hpp"

namespace tailrace::mpiio {

class BackgroundWrites {
 public:
  static BackgroundWrites& instance() {
    static BackgroundWrites* const only = new BackgroundWrites;
    return *only;
  }

  // Makes the request of a write that has begun. Returns the write's error, and no request, if it has failed.
  int start(MPI_File handle, Begun begun, MPI_Request* request);
  // Lets a split write go on.
  void add(std::shared_ptr<AggregatedWrite> write) { add({std::move(write), nullptr, MPI_REQUEST_NULL}); }

  // Returns false if no call need make progress. A thread that has to wait for a request sees the request's write: it
  // has got the request from the thread that has started it.
  bool any() const { return count_.load(std::memory_order_relaxed) > 0; }
  // Continues all writes a little.
  void progress();
  // Call it after the MPI has ended requests in this thread: reports the error of the first write among them that has
  // failed, and returns it. The file's next call returns those of others.
  static int take_error();
  // Continues them until this one has ended.
  void finish(const AggregatedWrite& write);
  // Continues them until none is left. Only when the program has nothing more to tell other processes: each of these
  // must be able to begin its part.
  void finish_all();

  // A write's end, which its request has.
  struct Result {
    MPI_File handle;
    Outcome outcome;
  };

 private:
  struct Entry {
    std::shared_ptr<AggregatedWrite> write;
    Result* result;  // belongs to the request; null: a split write
    MPI_Request request;
  };

  void add(Entry entry);
  bool goes_on(const AggregatedWrite& write);
  void step();

  std::atomic<size_t> count_{0};              // of the entries
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;  // a thread uses the entries
  std::list<Entry> entries_;                  // guarded by busy_
};

}  // namespace tailrace::mpiio
