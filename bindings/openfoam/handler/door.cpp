#include "openfoam/handler/door.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "openfoam/handler/carried_store.hpp"
#include "openfoam/handler/settled_looks.hpp"
#include "process_client/process_client.hpp"

namespace tailrace::openfoam {
namespace {

// Never destroyed: OpenFOAM destroys its handler very late.
struct Door {
  Door();

  process::ProcessClient client;
  std::unique_ptr<Writer> writer;
  bool summary = true;
  std::string trace;
};

// release: the function that runs before a signal sees the complete door; partner: its load.
std::atomic<bool> has_door = false;

Door& door() {
  static Door* const only = [] {
    auto* const made = new Door;
    has_door.store(true, std::memory_order_release);
    return made;
  }();
  return *only;
}

// OpenFOAM's handler of SIGINT passes the signal on to the one that it has found. So this comes when the library is
// loaded, before OpenFOAM looks.
__attribute__((constructor)) void heed_signals() {
  process::drain_at_signals([] {
    if (has_door.load(std::memory_order_acquire)) finish(false);
  });
}

// In place thread the writer lends its memory to the client. Everywhere else the client copies it, so that each has
// half of the budget.
uint64_t divide_budget(process::ClientSettings& settings) {
  const bool lends = settings.place == "thread" && settings.config.empty() && settings.forward.empty();
  if (!lends) settings.budget /= 2;
  return settings.budget;
}

Door::Door() : client({"OpenFOAM", "openfoam", [] { finish(false); }, nullptr}) {
  const char* const text = std::getenv("TAILRACE_OPENFOAM");
  process::ClientSettings settings;
  const std::string wrong = process::read_settings(text != nullptr ? text : "", settings, "trace=FILE",
                                                   [this](const std::string& key, const std::string& value) {
                                                     trace = value;
                                                     return key == "trace=" && !value.empty();
                                                   });
  const uint64_t budget = divide_budget(settings);
  if (wrong.empty()) {
    summary = settings.summary;
    settings.summary = false;  // the handler prints a table
    client.configure(settings);
    writer =
        std::make_unique<Writer>(std::make_unique<CarriedStore>(client), budget, settings.cpus, !looks_are_told());
  } else {
    std::fprintf(stderr, "tailrace: OpenFOAM's files are not carried: TAILRACE_OPENFOAM: %s\n", wrong.c_str());
    writer = std::make_unique<Writer>(std::make_unique<DirectStore>(), budget, settings.cpus, !looks_are_told());
  }
  if (looks_are_told()) settle_looks(*writer);
}

}  // namespace

Writer& writer() { return *door().writer; }

void finish(bool publish) {
  door().writer->finish(publish);
  door().client.end();
}

bool wants_summary() { return door().summary; }

const std::string& trace_path() { return door().trace; }

}  // namespace tailrace::openfoam
