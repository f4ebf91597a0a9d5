// BackgroundAccesses: the requests of nonblocking accesses, and the accesses in the background: reads, and collective
// writes whose processes exchange data. They are nonblocking ones, and split ones between their begin and their end.
//
// A thread of its own makes a read. A write goes on inside the program's calls of MPI: each calls progress(). Where
// any thread may call MPI, another thread of the process does so, too, so that the write needs none of the program's
// calls. A request is a generalized one, which is completed in a progress(). Any thread may call.
#pragma once

#include <atomic>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>

#include "mpiio/files/open_file.hpp"
#include "mpiio/mpi/mpi_header.hpp"

namespace tailrace::mpiio {

class BackgroundAccesses {
 public:
  static BackgroundAccesses& instance() {
    static BackgroundAccesses* const only = new BackgroundAccesses;
    return *only;
  }

  // Makes the request of an access that has begun. Returns the access's error, and no request, if it has failed.
  int start(MPI_File handle, Begun begun, MPI_Request* request);
  // Lets a split access go on.
  void add(std::shared_ptr<BackgroundAccess> access) { add({std::move(access), nullptr, MPI_REQUEST_NULL}); }

  // Returns false if no call need make progress. A thread that has to wait for a request sees the request's access:
  // it has got the request from the thread that has started it.
  bool any() const { return count_.load(std::memory_order_relaxed) > 0; }
  // Continues all of them a little. Returns true if anything has happened.
  bool progress();
  // Pauses a thread that waits if no access needs it, so that the thread that reads has a processor.
  void pause() const;
  // Call it after the MPI has ended requests in this thread: reports the error of the first access among them that
  // has failed, and returns it. The file's next call returns those of others.
  static int take_error();
  // Continues them until this one has ended.
  void finish(const BackgroundAccess& access);
  // Continues them until none is left. Only when the program has nothing more to tell other processes: each of these
  // must be able to begin its part.
  void finish_all();

  // An access's end, which its request has.
  struct Result {
    MPI_File handle;
    Outcome outcome;
  };

 private:
  struct Entry {
    std::shared_ptr<BackgroundAccess> access;
    Result* result;  // belongs to the request; null: a split access
    MPI_Request request;
  };

  void add(Entry entry);
  void keep_going();
  bool goes_on(const BackgroundAccess& access);
  bool step();

  std::atomic<size_t> count_{0};              // of the entries
  std::atomic<size_t> in_need_{0};            // of those that need progress()
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;  // a thread uses the entries
  std::list<Entry> entries_;                  // guarded by busy_

  std::mutex mutex_;  // guards all below
  std::condition_variable wake_;
  bool has_thread_ = false;
};

}  // namespace tailrace::mpiio
