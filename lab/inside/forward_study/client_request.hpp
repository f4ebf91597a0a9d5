// ClientRequest: a read or write of a client, and the two ports between clients and what carries it out: a forwarder,
// or the file system itself.
#pragma once

#include "lab/inside/forward_study/parallel_file_system.hpp"
#include "model/request.hpp"

namespace tailrace::impl::study {

struct ClientRequest;

class RequestMaker {
 public:
  virtual ~RequestMaker() = default;
  // The answer has arrived. Called once for each request.
  virtual void ended(const ClientRequest& request) = 0;
};

struct ClientRequest {
  RequestMaker* maker = nullptr;  // borrowed until it has ended
  uint32_t client = 0;
  bool writes = false;
  uint32_t file = 0;
  Extent extent;
};

class RequestTaker {
 public:
  virtual ~RequestTaker() = default;
  // Takes a request that is sent now.
  virtual void send(const ClientRequest& request) = 0;
};

// Sends requests straight to the data servers: no forwarding.
class DirectAccess final : public RequestTaker {
 public:
  explicit DirectAccess(ParallelFileSystem& files) : files_(files) {}
  void send(const ClientRequest& request) override {
    files_.transfer(request.writes, request.file, request.extent, [request] { request.maker->ended(request); });
  }

 private:
  ParallelFileSystem& files_;
};

}  // namespace tailrace::impl::study
