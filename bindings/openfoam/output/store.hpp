// Store: the port through which the writer's bytes reach files. One thread uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tailrace::openfoam {

class Store {
 public:
  using File = uint64_t;
  using Ticket = uint64_t;
  using Reason = std::string;  // why a call failed; empty: it did not

  virtual ~Store() = default;
  // Opens a new file that gets the name `path` (absolute, without symbolic links) when it is closed, if all of it was
  // written.
  virtual Reason open(const std::string& path, File& file) = 0;
  // Begins to write. The memory must not change before wait() has returned for the ticket.
  virtual Reason write(File file, uint64_t offset, const std::byte* data, size_t bytes, Ticket& ticket) = 0;
  // Begins to close the file after all its writes. It has its name when wait() has returned.
  virtual Reason close(File file, Ticket& ticket) = 0;
  // The file does not get its name when it is closed.
  virtual void give_up(File file) = 0;
  // Waits for the end of what the ticket is for. Wait for each ticket once, in their order.
  virtual Reason wait(Ticket ticket) = 0;
};

}  // namespace tailrace::openfoam
