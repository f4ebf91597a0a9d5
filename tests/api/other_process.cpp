// A client in a separate process, for tests of the effects of processes on each other. It reads commands, one on each
// line, and answers each with a number, mostly the status of the call:
//   open DIRECTORY NAME CLIENT · write ITERATION (all six variables) · end ITERATION · flush · close · quit
//   raw_open PATH (for writing) · raw_publish PATH (anew) · raw_iclose · raw_write OFFSET LENGTH CHARACTER · raw_sync
//   · raw_close
//   fork: makes a child that does nothing until it is killed; the child answers with its process id
#include <unistd.h>

#include <iostream>
#include <sstream>

#include "run_rig.hpp"

namespace {

tailrace_client* client = nullptr;
tailrace_file file{};

tailrace_status obey_raw(std::istringstream& line, const std::string& verb) {
  if (verb == "raw_open") {
    std::string path;
    line >> path;
    return tailrace_file_open(client, path.c_str(), TAILRACE_FILE_WRITE, &file);
  }
  if (verb == "raw_publish") {
    std::string path;
    line >> path;
    constexpr int kAnew = TAILRACE_FILE_WRITE | TAILRACE_FILE_TRUNCATE | TAILRACE_FILE_PUBLISH;
    return tailrace_file_open(client, path.c_str(), kAnew, &file);
  }
  if (verb == "raw_iclose") {
    tailrace_ticket ticket{};
    return tailrace_file_iclose(file, &ticket);
  }
  if (verb == "raw_write") {
    tailrace_extent extent{};
    char character = 0;
    line >> extent.offset >> extent.length >> character;
    return tailrace_file_write(file, 1, &extent, std::string(extent.length, character).data());
  }
  if (verb == "raw_sync") return tailrace_file_sync(file);
  if (verb == "raw_close") return tailrace_file_close(file);
  return TAILRACE_INVALID_ARGUMENT;
}

tailrace_status obey(std::istringstream& line, const std::string& verb) {
  if (verb == "open") {
    std::string directory;
    test::Config config;
    int id = 0;
    line >> directory >> config.name >> id;
    const tailrace_status status = test::open_client(config, directory, id, &client);
    if (status != TAILRACE_OK && status != TAILRACE_CLIENT_IN_USE) {
      std::cerr << "open: " << test::last_error(nullptr).message << std::endl;  // NOLINT: the process may be killed
    }
    return status;
  }
  if (verb == "write") {
    int64_t iteration = 0;
    line >> iteration;
    for (int variable = 0; variable < 6; ++variable) {
      const char name[] = {static_cast<char>('a' + variable), '\0'};
      const std::vector<double> values = test::block(iteration, variable);
      const tailrace_status status = tailrace_write(client, name, iteration, values.data());
      if (status != TAILRACE_OK) return status;
    }
    return TAILRACE_OK;
  }
  if (verb == "end") {
    int64_t iteration = 0;
    line >> iteration;
    return tailrace_end_iteration(client, iteration);
  }
  if (verb == "flush") return tailrace_flush(client);
  if (verb == "close") return tailrace_close(client);
  return obey_raw(line, verb);
}

}  // namespace

int main() {
  for (std::string text; std::getline(std::cin, text);) {
    std::istringstream line(text);
    std::string verb;
    line >> verb;
    if (verb == "quit") return 0;
    if (verb == "fork") {
      const bool is_child = fork() == 0;
      if (is_child) std::cout << getpid() << std::endl;
      while (is_child) pause();
      continue;
    }
    std::cout << static_cast<int>(obey(line, verb)) << std::endl;
  }
  return 0;
}
