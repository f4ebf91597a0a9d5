// simulation DIRECTORY SEED ITERATIONS [CLIENT JOB [MORE]]: writes the output of Scenario(SEED), and reads some of it
// back. It prints a byte on its standard output after each call: 'e' for an ended iteration, 'f' for a flush (all
// iterations that ended before are published), '.' for any other, and 'c' after close. It prints "!", and the error
// on standard error, if any call fails or reads something else. With CLIENT and JOB it runs in place `core`, as that
// client of the job with that seed; MORE is added to `place`.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "run_rig.hpp"
#include "scenario.hpp"

namespace {

void say(char what) {
  if (write(STDOUT_FILENO, &what, 1) != 1) _exit(3);
}

void require(tailrace_status status, tailrace_client* client, const char* call) {
  if (status == TAILRACE_OK) return;
  std::fprintf(stderr, "%s: %s\n", call, test::last_error(client).message.c_str());
  say('!');
  _exit(1);
}

// Hands over in one of the three ways, as `way` says. A borrowed block stays in `lent` until its ticket has ended.
void hand_over(tailrace_client* client, const test::Scenario& scenario, int64_t iteration, size_t variable,
               uint64_t way, std::vector<std::vector<uint64_t>>& lent, std::vector<tailrace_ticket>& tickets) {
  const std::string name = scenario.name(variable);
  if (way == 0) {
    void* memory = nullptr;
    require(tailrace_alloc(client, name.c_str(), iteration, &memory), client, "alloc");
    say('.');
    scenario.fill(iteration, variable, static_cast<uint64_t*>(memory));
    require(tailrace_commit(client, name.c_str(), iteration), client, "commit");
  } else {
    std::vector<uint64_t> block(scenario.words_of(iteration, variable));
    scenario.fill(iteration, variable, block.data());
    if (way == 1) {
      require(tailrace_write(client, name.c_str(), iteration, block.data()), client, "write");
    } else {
      tailrace_ticket ticket{};
      require(tailrace_borrow(client, name.c_str(), iteration, block.data(), &ticket), client, "borrow");
      lent.push_back(std::move(block));
      tickets.push_back(ticket);
    }
  }
  say('.');
}

// The layouts are then those of that iteration.
void set_particles(tailrace_client* client, const test::Scenario& scenario, int64_t iteration) {
  const tailrace_parameter number = {"n", static_cast<int64_t>(scenario.particles(iteration))};
  require(tailrace_set_parameters(client, &number, 1), client, "set_parameters");
  say('.');
}

void set_attributes(tailrace_client* client, const test::Scenario& scenario, int64_t iteration) {
  const double value = scenario.residual(iteration);
  for (const char* of : {static_cast<const char*>(nullptr), "ions/weighting", "E/y"}) {
    require(tailrace_attribute(client, of, iteration, "residual", TAILRACE_FLOAT64, 1, &value), client, "attribute");
    say('.');
  }
}

void read_back(tailrace_client* client, const test::Scenario& scenario, int64_t iteration, size_t variable) {
  set_particles(client, scenario, iteration);
  std::vector<uint64_t> block(scenario.words_of(iteration, variable));
  const std::string name = scenario.name(variable);
  require(tailrace_read(client, name.c_str(), iteration, block.data()), client, "read");
  const uint64_t wrong = scenario.first_wrong(iteration, variable, block.data());
  if (wrong != block.size()) {
    std::fprintf(stderr, "word %llu of '%s', iteration %lld, was read back wrong\n",
                 static_cast<unsigned long long>(wrong), name.c_str(), static_cast<long long>(iteration));
    say('!');
    _exit(1);
  }
  say('.');
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 6 && argc != 7) return 2;
  test::Scenario scenario(std::strtoull(argv[2], nullptr, 10));
  const int number = argc >= 6 ? std::atoi(argv[4]) : 0;
  if (argc >= 6) scenario.share(std::strtoull(argv[5], nullptr, 10));
  if (argc == 7) scenario.place += std::string(", ") + argv[6];
  const std::string text = scenario.config();
  tailrace_open_options options{};
  options.struct_size = sizeof options;
  options.config_text = text.c_str();
  options.path = argv[1];
  tailrace_client* client = nullptr;
  require(tailrace_open_with("killed.yaml", number, &options, &client), nullptr, "open");
  say('.');
  std::mt19937_64 random(scenario.seed + 1);
  const long iterations = std::strtol(argv[3], nullptr, 10);
  std::vector<std::vector<uint64_t>> lent;
  std::vector<tailrace_ticket> tickets;
  for (long iteration = 0; iteration < iterations; ++iteration) {
    set_particles(client, scenario, iteration);
    for (size_t variable = 0; variable < scenario.variables(); ++variable) {
      hand_over(client, scenario, iteration, variable, random() % 3, lent, tickets);
    }
    set_attributes(client, scenario, iteration);
    require(tailrace_end_iteration_at(client, iteration, scenario.time(iteration), 0.5), client, "end_iteration");
    say('e');
    for (const tailrace_ticket& ticket : tickets) require(tailrace_wait(ticket, -1), client, "wait");
    tickets.clear();
    lent.clear();
    if (random() % 4 == 0) {
      const auto earlier = static_cast<int64_t>(random() % (static_cast<uint64_t>(iteration) + 1));
      read_back(client, scenario, earlier, random() % scenario.variables());
    }
    if (random() % 4 != 0) continue;
    require(tailrace_flush(client), client, "flush");
    if (scenario.durability != "accepted") say('f');
  }
  require(tailrace_close(client), client, "close");
  say('c');
  return 0;
}
