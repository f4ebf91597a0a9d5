// A client in a process of its own, for tests of what processes do to each other. Reads commands, a line each, and
// answers each with a number, mostly the status of the call:
//   open DIRECTORY NAME CLIENT · write ITERATION (all six variables) · end ITERATION · flush · close · quit
#include <iostream>
#include <sstream>

#include "test_run.hpp"

namespace {

tailrace_client* client = nullptr;

tailrace_status obey(std::istringstream& line, const std::string& verb) {
  if (verb == "open") {
    std::string directory;
    test::Config config;
    int id = 0;
    line >> directory >> config.name >> id;
    return test::open_client(config, directory, id, &client);
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
  return TAILRACE_INVALID_ARGUMENT;
}

}  // namespace

int main() {
  for (std::string text; std::getline(std::cin, text);) {
    std::istringstream line(text);
    std::string verb;
    line >> verb;
    if (verb == "quit") return 0;
    std::cout << static_cast<int>(obey(line, verb)) << std::endl;
  }
  return 0;
}
