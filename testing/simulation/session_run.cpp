#include "testing/simulation/session_run.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <vector>

#include "runtime/recover.hpp"
#include "testing/simulation/check_files.hpp"
#include "testing/simulation/check_node_files.hpp"
#include "testing/simulation/check_raw_files.hpp"
#include "testing/simulation/client_program.hpp"
#include "testing/simulation/sim_guest.hpp"
#include "testing/simulation/sim_node.hpp"
#include "testing/simulation/sim_process.hpp"

namespace tailrace::impl::simulation {
namespace {

namespace fs = std::filesystem;

// The simulated disk's files as real ones, in the present directory, for code that does not use the storage port.
class ExportedDisk {
 public:
  explicit ExportedDisk(const std::vector<std::string>& devices) : devices_(devices) {}
  ~ExportedDisk() { clear(); }
  ExportedDisk(const ExportedDisk&) = delete;
  ExportedDisk& operator=(const ExportedDisk&) = delete;

  void put(const SimDisk& disk) {
    clear();
    for (const std::string& device : devices_) fs::create_directory(device);
    for (const std::string& name : disk.names()) {
      const InodePointer inode = disk.find(name);
      std::ofstream file(name, std::ios::binary);
      file.write(reinterpret_cast<const char*>(inode->bytes.data()),
                 static_cast<std::streamsize>(inode->bytes.size()));
    }
  }

  // Replaces the disk's contents by the present files, all of them durable.
  void take(SimDisk& disk) const {
    disk.clear();
    std::set<std::string> names;
    for (const std::string& device : devices_) {
      for (const auto& entry : fs::directory_iterator(device)) names.insert(entry.path().string());
    }
    for (const std::string& name : names) {
      std::vector<std::byte> bytes(fs::file_size(name));
      std::ifstream file(name, std::ios::binary);
      file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
      disk.put(name, std::move(bytes));
    }
    disk.sync_all();
  }

 private:
  void clear() {
    for (const std::string& device : devices_) fs::remove_all(device);
  }

  const std::vector<std::string> devices_;
};

class SessionRun {
 public:
  SessionRun(uint64_t seed, InPlace place, const RunOptions& options, Story& story)
      : seed_(seed),
        options_(options),
        story_(story),
        plan_(draw_session(seed, place, options.without)),
        disk_(seed),
        faults_{plan_.faults, {}, {}, false},
        models_(plan_.phases[0].clients.size()),
        fates_(models_.size()),
        exported_(plan_.phases[0].clients[0].config.storage.paths) {
    if (!plan_.phases[0].clients[0].config.storage.has_file_each()) disk_.keep_heads();
  }

  void run() {
    for (size_t phase = 0; phase < plan_.phases.size(); ++phase) {
      begin_raw_files(plan_.phases[phase]);
      plan_.phases[phase].node ? run_node_phase(phase) : run_phase(phase);
      recover_phase(phase);
    }
  }

 private:
  void run_phase(size_t index) {
    const PhasePlan& phase = plan_.phases[index];
    story_.tell("---- phase {}", index);
    World world(mixed(seed_ + index), phase.world, story_);
    std::vector<std::unique_ptr<SimProcess>> processes;
    std::vector<std::unique_ptr<ClientProgram>> programs;
    for (size_t client = 0; client < phase.clients.size(); ++client) {
      const ClientPlan& plan = phase.clients[client];
      tell(plan, client);
      const uint64_t seed = mixed(seed_ * 16 + index * 4 + client);
      processes.push_back(std::make_unique<SimProcess>(world, disk_, faults_, seed, static_cast<int>(client), plan));
      programs.push_back(std::make_unique<ClientProgram>(world, *processes.back(), faults_, models_, raw_files_, seed,
                                                         options_.operations));
    }
    bool power_cut = false;
    for (size_t client = 0; client < processes.size(); ++client) {
      SimProcess& process = *processes[client];
      const ClientPlan& plan = phase.clients[client];
      process.set_fiber(
          world.spawn(fmt::format("client {}", client), plan.client_weight,
                      [&process, &programs, client] { process.run_client([&] { programs[client]->run(); }); }));
      world.spawn(fmt::format("server {}", client), plan.server_weight, [&process] { process.run_server(); });
    }
    for (const auto& process : processes) {
      process->set_power_cut([&] {
        power_cut = true;
        for (const auto& each : processes) each->lose_power();
      });
    }
    world.run();
    for (size_t client = 0; client < processes.size(); ++client) {
      processes[client]->died() ? programs[client]->end_with_server() : programs[client]->check_counters();
      fates_[client] = {static_cast<int>(client), &phase.clients[client].config, processes[client]->is_closed(),
                        power_cut, false};
    }
    // The remains of dead processes may still hold files open, so they lose power, too.
    programs.clear();
    processes.clear();
    check(power_cut);
  }

  // Begins the phase with the raw files that exist now.
  void begin_raw_files(const PhasePlan& phase) {
    for (const ClientPlan& client : phase.clients) {
      for (const std::string& name : client.raw_files.paths) {
        const std::string path = client.config.storage.paths[0] + "/" + name;
        const InodePointer inode = disk_.find(path);
        raw_files_.files[path].begin(inode != nullptr, inode != nullptr ? inode->bytes : std::vector<std::byte>());
      }
    }
  }

  // Runs a phase with one server for all clients.
  void run_node_phase(size_t index) {
    const PhasePlan& phase = plan_.phases[index];
    story_.tell("---- phase {}", index);
    World world(mixed(seed_ + index), phase.world, story_);
    SimNode node(world, disk_, faults_, mixed(seed_ * 16 + index * 4), *phase.node, phase.clients);
    std::vector<std::unique_ptr<SimGuest>> guests;
    std::vector<std::unique_ptr<ClientProgram>> programs(phase.clients.size());
    bool power_cut = false;
    std::optional<World::FiberId> stranger;
    for (size_t client = 0; client < phase.clients.size(); ++client) {
      const ClientPlan& plan = phase.clients[client];
      tell(plan, client);
      guests.push_back(std::make_unique<SimGuest>(world, node, static_cast<int>(client), plan, phase.node->restart));
      SimGuest& guest = *guests.back();
      guest.set_power_cut([&] {
        power_cut = true;
        node.lose_power();
        for (const auto& each : guests) each->lose_power();
        if (stranger) world.abandon(*stranger);
      });
      const uint64_t seed = mixed(seed_ * 16 + index * 4 + client);
      const auto program = [this, &world, &guest, &plan, &of = programs[client], seed] {
        if (plan.absence && !plan.absence->works) return;
        of = std::make_unique<ClientProgram>(world, guest, faults_, models_, raw_files_, seed, options_.operations);
        of->run();
      };
      if (plan.absence && !plan.absence->comes_at) continue;
      guest.set_fiber(world.spawn(fmt::format("client {}", client), plan.client_weight, [&, program] {
        if (plan.absence) world.sleep(&plan, Nanoseconds(*plan.absence->comes_at));
        guest.run(program);
      }));
    }
    if (phase.stranger) {
      stranger = world.spawn("stranger", 1, [&] { be_stranger(world, node, guests, *phase.stranger); });
    }
    node.set_on_loss([&guests](int client) {
      if (static_cast<size_t>(client) < guests.size()) guests[static_cast<size_t>(client)]->notice_loss();
    });
    do {
      world.run();
    } while (!power_cut && node.drain());
    for (size_t client = 0; client < guests.size(); ++client) {
      const SimGuest& guest = *guests[client];
      const bool heard_all = guest.is_closed() || guest.is_absent();
      fates_[client] = {static_cast<int>(client), &phase.clients[client].config, heard_all, power_cut, true};
      if (guest.is_closed()) {
        programs[client]->check_counters();
      } else if (programs[client] != nullptr) {
        programs[client]->hear_the_rest(node.has_abandoned());
      }
    }
    check(power_cut);
  }

  // The stranger's process begins when all clients are there, and it is never admitted beside them or their remains.
  void be_stranger(World& world, SimNode& node, const std::vector<std::unique_ptr<SimGuest>>& guests,
                   const Stranger& plan) {
    const auto may_come = [&](const auto& guest) {
      return guest->is_absent() || guest->died() || node.ever_welcome().contains(guest->number());
    };
    world.sleep(&plan, Nanoseconds(plan.at));
    while (!std::all_of(guests.begin(), guests.end(), may_come)) world.sleep(&plan, Nanoseconds(5'000));
    const pid_t process = node.begin_process();
    const SimNode::Met met = node.meet(plan.client, false, process);
    story_.tell("stranger, as client {}: {}", plan.client,
                met.refusal.ok() ? "is welcome" : met.refusal.fault().message);
    if (met.refusal.ok()) {
      // With the ledger of an earlier server, the knowledge is lost of who belonged to the run.
      story_.check(node.serves_only(plan.client) || node.has_abandoned(), "answer",
                   "a client of another run is let in beside one");
      met.segment->control().client_state.store(ChannelControl::kClientLeft);
      if (node.is_alive(met.life)) node.say_goodbye(plan.client, process);
    } else {
      const tailrace_status codes[] = {TAILRACE_CLIENT_IN_USE, TAILRACE_CLIENTS_MISSING, TAILRACE_INVALID_CONFIG};
      const bool known = std::find(std::begin(codes), std::end(codes), met.refusal.code()) != std::end(codes);
      story_.check(known, "answer", "a client of another run is refused for a strange reason");
    }
    node.process_ended(process);
  }

  void check(bool power_cut) {
    story_.check(!faults_.out_of_descriptors, "descriptors",
                 "more files were open at once than the process may have");
    if (power_cut) disk_.crash();
    check_raw_files(disk_, faults_, raw_files_, power_cut, story_);
    if (of_node()) return check_node_phase(disk_, faults_, fates_, models_, story_);
    for (size_t client = 0; client < models_.size(); ++client) {
      check_phase(disk_, fates_[client], models_[client], story_);
    }
  }

  // Recovers after a crash, as a user would do before the next run.
  void recover_phase(size_t index) {
    const std::vector<std::string> names = disk_.names();
    const bool leftovers =
        std::any_of(names.begin(), names.end(), [](const std::string& name) { return name.ends_with(".part"); });
    const bool last = index + 1 == plan_.phases.size();
    if (!leftovers && last) return;
    exported_.put(disk_);
    const bool recovered = plan_.phases[index].recovered || is_any_whole(plan_.phases[index]);
    if (!last && !recovered) return keep_for_next();
    for (const std::string& device : plan_.phases[index].clients[0].config.storage.paths) {
      constexpr int kMost = 4;  // an iteration has two files, and the second one's name may be taken, too
      int tries = 0;
      while (recover_device(device)) TAILRACE_ASSERT(++tries < kMost);
    }
    exported_.take(disk_);
    if (of_node()) check_node_recovered(disk_, faults_, fates_, models_, story_);
    for (size_t client = 0; client < models_.size() && !of_node(); ++client) {
      check_recovered(disk_, fates_[client], models_[client], story_);
    }
    forget_unknown();
  }

  // Returns true if a complete file was left since one of an earlier run has its name. The user then removes the
  // earlier one, and recovers again.
  bool recover_device(const std::string& device) {
    bool is_taken = false;
    const Status status = recover(device, true, [&](const Leftover& leftover) {
      story_.tell("recovery: '{}' {}, {}", leftover.file,
                  leftover.kind == TAILRACE_COMPLETE ? "was complete" : "was incomplete",
                  leftover.done ? "done" : "not done");
      if (leftover.status.code() == TAILRACE_EXISTS) {
        is_taken = true;
        std::filesystem::remove(leftover.status.fault().file);
      } else if (!leftover.done) {
        story_.fail("recovery", "did not finish or remove '" + leftover.file + "'");
      }
    });
    if (!status.ok()) story_.fail("recovery", status.fault().message);
    return is_taken;
  }

  // Keeps everything for the program, which starts again.
  void keep_for_next() {
    disk_.sync_all();
    if (of_node()) keep_node_leftovers(disk_, faults_, fates_, models_, story_);
    for (size_t client = 0; client < models_.size() && !of_node(); ++client) {
      keep_leftovers(disk_, fates_[client], models_[client], story_);
    }
    forget_unknown();
  }

  // Removes files that a power cut may have damaged: in reality their owner has to look at them.
  void forget_unknown() {
    for (size_t client = 0; client < models_.size(); ++client) {
      for (auto& [number, iteration] : models_[client].iterations) {
        if (!iteration.unknown) continue;
        for (const std::string& path : paths_of(*fates_[client].config, static_cast<int>(client), number)) {
          disk_.remove(path);
          disk_.remove(path + ".part");
        }
        iteration = {};
      }
    }
    disk_.sync_all();
    exported_.put(disk_);
  }

  // Returns true if a file is complete and only lacks its name. A run that finds such files publishes them before its
  // first byte (runtime/output/earlier_files), which the simulator does not run.
  bool is_any_whole(const PhasePlan& phase) {
    bool whole = false;
    for (const std::string& device : phase.clients[0].config.storage.paths) {
      const auto look = [&whole](const Leftover& leftover) { whole = whole || leftover.kind == TAILRACE_COMPLETE; };
      if (const Status status = recover(device, false, look); !status.ok()) {
        story_.fail("recovery", status.fault().message);
      }
    }
    return whole;
  }
  bool of_node() const { return fates_[0].config->storage.file_per == FilePer::node; }

  void tell(const ClientPlan& plan, size_t client) {
    std::string sizes;
    for (const Variable& variable : plan.config.variables) {
      sizes += fmt::format(" {}: {}", variable.name, plan.config.layout_of(variable).bytes());
    }
    story_.tell(
        "client {}: {} operations; variables{}; budget {}, when_full {}, {}, {} device(s); ring {}, {} tickets, "
        "{} blocks; depth {}, {} segments, direct {}; at most {} pending, {} iterations unfinished",
        client, plan.operations, sizes, plan.config.memory.budget, static_cast<int>(plan.config.memory.when_full),
        name_of(plan.config.storage.durability), plan.config.storage.paths.size(), plan.channel.ring,
        plan.channel.tickets, plan.channel.blocks, plan.storage.depth, plan.storage.max_segments,
        plan.storage.direct_alignment, plan.engine.max_pending, plan.config.memory.iterations);
  }

  const uint64_t seed_;
  const RunOptions& options_;
  Story& story_;
  const SessionPlan plan_;
  SimDisk disk_;
  Faults faults_;
  std::vector<ClientModel> models_;  // by client, kept from phase to phase
  std::vector<Fate> fates_;          // by client, for the latest phase
  RawFileModels raw_files_;          // of the present phase
  ExportedDisk exported_;
};

}  // namespace

void run_session(uint64_t seed, InPlace place, const RunOptions& options, Story& story) {
  SessionRun(seed, place, options, story).run();
}

}  // namespace tailrace::impl::simulation
