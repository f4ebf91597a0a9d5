#include "testing/simulation/session_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <utility>

#include "testing/sample_config.hpp"
#include "testing/simulation/array_plan.hpp"

namespace tailrace::impl::simulation {
namespace {

constexpr uint64_t kPage = 4096;

uint64_t some_size(SplitDice& dice) {
  const uint64_t kind = dice.below(100);
  if (kind < 35) return dice.between(1, 600);
  if (kind < 55) return kPage * dice.between(1, 3);
  if (kind < 75) return kPage * dice.between(1, 4) + dice.between(0, 2) - 1;
  if (kind < 92) return dice.between(1, 40'000);
  if (kind < 99) return dice.between(64 << 10, 100 << 10);  // from 64 KiB on, space is reserved
  return dice.between(1 << 20, 3 << 20);
}

std::vector<SampleVariable> some_variables(SplitDice& dice) {
  std::vector<SampleVariable> variables;
  for (uint64_t count = dice.between(1, 4); count > 0; --count) {
    const uint64_t bytes = some_size(dice);
    const std::string name(1, static_cast<char>('a' + variables.size()));
    if (bytes % 8 == 0 && dice.chance(50)) {
      variables.push_back({name, ElementType::float64, {bytes / 8}});
    } else {
      variables.push_back({name, ElementType::uint8, {bytes}});
    }
  }
  return variables;
}

// Makes the lengths of arrays parameters: "a_n", "b_n" and so on, in the order of the variables.
void name_lengths(Config& config) {
  for (size_t i = 0; i < config.layouts.size(); ++i) {
    Layout& layout = config.layouts[i];
    config.parameters.push_back({config.variables[i].name + "_n", static_cast<int64_t>(layout.shape[0])});
    layout.sources = {{static_cast<int32_t>(i)}, {static_cast<int32_t>(i)}, {kNoParameter}};
  }
}

// Makes the last variable a record of particles.
void have_particles(Config& config) {
  Variable& last = config.variables.back();
  last.name = "ions/" + last.name;
  last.record.of_particles = true;
}

// Makes the server filter some variables, in three of ten runs. Lossy filters are left out: bytes are compared.
void filter_variables(SplitDice dice, Config& config) {
  if (!dice.chance(30)) return;
  for (Variable& variable : config.variables) {
    const bool scalar = config.layout_of(variable).scalar;
    if (scalar || dice.chance(40)) continue;
    variable.compress.filter = dice.chance(70) ? Compressor::zstd : Compressor::deflate;
    variable.compress.level = 1;
    variable.compress.shuffle = dice.chance(50);
    variable.compress.chunk = dice.one_of<uint64_t>({4 << 10, 16 << 10, 1 << 20});
    variable.compress.adaptive = dice.chance(50);
  }
}

uint64_t some_budget(SplitDice& dice, const std::vector<Variable>& variables, const Config& config) {
  uint64_t largest = 0;
  uint64_t all = 0;
  for (const Variable& variable : variables) {
    const uint64_t bytes = config.layout_of(variable).bytes();
    largest = std::max(largest, bytes);
    all += bytes;
  }
  uint64_t budget = largest;  // hardly one block
  if (dice.chance(60)) budget = largest + dice.below(2 * all + 1);
  if (dice.chance(20)) budget = 6 * all;
  if (dice.chance(4)) budget = largest / 2;  // a block that never fits
  return std::max(kPage, (budget + kPage - 1) / kPage * kPage);
}

void choose_merging(EngineOptions& options, SplitDice dice) {
  using ReadAfter = EngineOptions::ReadAfter;
  options.morph = dice.chance(75);
  options.read_after = dice.one_of({ReadAfter::submitted, ReadAfter::submitted, ReadAfter::any, ReadAfter::written});
  options.merge.alignment = dice.chance(50) ? 0 : dice.between(1, kPage);
  options.gather.on = dice.chance(80);
  options.gather.count = dice.between32(1, 30);
  options.gather.bytes = dice.between(1, 16 * kPage);
  options.gather.small = dice.between(1, 4 * kPage);
  options.merge.sieve = dice.chance(40) ? 0 : dice.between(1, 8 * kPage);
  options.merge.waste = dice.one_of({0.1, 0.5, 1.0});
  options.merge.scatter = dice.chance(40) ? 0 : dice.between(1, kPage);
  options.merge.scatter_from = dice.between32(1, 4);
  options.merge.scatter_segments = dice.between32(2, 40);
  if (dice.chance(50)) options.fine_from = dice.between32(2, 4);
}

EngineOptions some_engine(SplitDice& dice) {
  EngineOptions options;
  options.max_pending = dice.chance(50) ? dice.between32(8, 20) : dice.between32(20, 200);
  options.merge.largest = dice.chance(20) ? 0 : dice.between(1, 16 * kPage);
  options.execute.largest_transfer = kPage * (dice.chance(60) ? dice.between(1, 4) : dice.between(4, 64));
  options.execute.direct_from = dice.chance(60) ? 0 : dice.between(1, 32 << 10);
  SplitDice copy = dice;
  choose_merging(options, SplitDice(copy.next(), "merging"));
  SplitDice bounces(copy.next(), "bounces");
  options.execute.bounce_bytes = bounces.chance(50) ? 0 : kPage * bounces.between(1, 4);
  options.execute.bounce_count = bounces.between32(1, 4);
  return options;
}

SimStorageOptions some_storage(SplitDice& dice, const Without& without) {
  SimStorageOptions options;
  if (dice.chance(50)) options.operations = dice.between32(1, 4);
  options.depth = dice.between32(1, 10);
  options.max_segments = dice.between32(1, 8);
  const uint32_t alignments[] = {0, 512, 4096, 4096};
  options.direct_alignment = dice.one_of(alignments);
  const uint64_t speeds[] = {1'000, 30'000, 300'000, 3'000'000};
  options.most_delay = without.delays ? 0 : dice.one_of(speeds);
  options.least_delay = dice.below(options.most_delay / 2 + 1);
  return options;
}

ClientPlan some_client(SplitDice dice, const Config& base, const Without& without) {
  ClientPlan plan;
  plan.config = base;
  const WhenFull when_full[] = {WhenFull::block, WhenFull::block, WhenFull::sync, WhenFull::drop};
  plan.config.memory.when_full = dice.one_of(when_full);
  const Durability durability[] = {Durability::accepted, Durability::written, Durability::durable,
                                   Durability::durable};
  plan.config.storage.durability = dice.one_of(durability);
  plan.config.memory.budget = some_budget(dice, base.variables, base);
  plan.engine = some_engine(dice);
  plan.storage = some_storage(dice, without);
  plan.channel.ring = 1u << dice.between32(1, 6);
  plan.channel.tickets = dice.between32(1, 24);
  plan.channel.blocks = dice.chance(30) ? dice.between32(4, 12) : dice.between32(12, 256);
  plan.any_order = dice.chance(40);
  const uint64_t weights[] = {1, 1, 3, 30};
  plan.client_weight = dice.one_of(weights);
  plan.server_weight = dice.one_of(weights);
  plan.operations = dice.chance(70) ? dice.between(4, 40) : dice.between(40, 110);
  plan.iterations = dice.between(1, 4);
  if (!without.deaths && dice.chance(30)) {
    const uint64_t delays[] = {300, 5'000, 100'000, 2'000'000};
    plan.death = Death{dice.below(plan.operations + 2), dice.below(dice.one_of(delays)), dice.chance(50)};
  }
  return plan;
}

NodePlan some_node(SplitDice dice, const Without& without) {
  NodePlan plan;
  plan.engine = some_engine(dice);
  plan.storage = some_storage(dice, without);
  plan.any_order = dice.chance(40);
  const uint64_t weights[] = {1, 1, 3, 30};
  plan.server_weight = dice.one_of(weights);
  plan.restart = dice.chance(92);
  const uint64_t deaths = dice.chance(65) ? dice.between(1, 6) : 0;
  for (uint64_t death = 0; death < deaths && !without.server_deaths; ++death) {
    const uint64_t delays[] = {3'000, 30'000, 300'000, 300'000, 3'000'000, 30'000'000};
    plan.deaths.push_back(dice.below(dice.one_of(delays)));
  }
  if (dice.chance(40)) plan.turn = {static_cast<int>(dice.between(1, 3)), 4};
  return plan;
}

std::optional<LineDeath> some_line_death(SplitDice dice) {
  using Kind = LedgerRecord::Kind;
  if (!dice.chance(40)) return std::nullopt;
  const std::optional<Kind> kinds[] = {std::nullopt,      Kind::accepted,  Kind::failed, Kind::failed, Kind::left,
                                       Kind::unpublished, Kind::journaled, Kind::gone,   Kind::absent};
  return LineDeath{dice.one_of(kinds), dice.below(dice.chance(50) ? 2 : 12), dice.chance(50)};
}

// Grids that move need arrays that fit into each budget: a parameter is not set while one does not.
void hold_large_grids(SessionPlan& plan) {
  bool all_fit = true;
  for (const PhasePlan& phase : plan.phases) {
    for (const ClientPlan& client : phase.clients) {
      for (const Layout& layout : client.config.layouts) {
        all_fit = all_fit && layout.bytes() <= client.config.memory.budget;
      }
    }
  }
  for (PhasePlan& phase : plan.phases) {
    for (ClientPlan& client : phase.clients) {
      if (!all_fit) hold_grids(client.config);
    }
  }
}

// Makes equal what clients of one node have in common.
void make_common(PhasePlan& phase) {
  for (ClientPlan& client : phase.clients) {
    client.config.storage.slots = phase.node->turn.servers > 1;
    // Make room for blocks that wait: those beyond half of a budget do not wait.
    if (client.config.storage.slots) client.config.memory.budget *= 4;
    client.config.storage.durability = phase.clients[0].config.storage.durability;
  }
}

// Plans one file for all clients of the node, in which some variables are parts of one array, side by side.
void share_files(SplitDice dice, SessionPlan& plan) {
  std::vector<bool> is_part;
  for (size_t count = plan.phases[0].clients[0].config.variables.size(); count > 0; --count) {
    is_part.push_back(dice.chance(50));
  }
  const Config& base = plan.phases[0].clients[0].config;
  for (uint32_t variable = 0; variable < is_part.size(); ++variable) {
    const int32_t leader = leader_of(base, variable);
    const bool filtered = base.variables[variable].filtered();
    is_part[variable] = leader >= 0 && is_part[static_cast<size_t>(leader)] && !filtered;
  }
  for (PhasePlan& phase : plan.phases) {
    for (uint64_t client = 0; client < phase.clients.size(); ++client) {
      Config& config = phase.clients[client].config;
      config.storage.file_per = FilePer::node;
      config.place.clients = static_cast<int>(phase.clients.size());
      for (const Variable& variable : config.variables) {
        if (!is_part[static_cast<size_t>(&variable - config.variables.data())]) continue;
        Layout& layout = config.layouts[variable.layout];
        layout.global_shape[0] = layout.shape[0] * phase.clients.size();
        layout.offset[0] = layout.shape[0] * client;
        layout.sources.global_shape[0] = kNoParameter;  // a shorter part leaves a gap
      }
    }
  }
  for (HardFault& fault : plan.faults.hard) {
    fault.path_contains = std::regex_replace(fault.path_contains, std::regex("_c[0-9]+"), "_n0");
  }
}

// Adds clients that never come, or come too late, and one too many. Only if clients share files, since there it
// matters.
void add_strangers(uint64_t seed, SessionPlan& plan) {
  for (size_t index = 0; index < plan.phases.size(); ++index) {
    PhasePlan& phase = plan.phases[index];
    SplitDice dice(seed, "strangers", index);
    const uint64_t clients = phase.clients.size();
    const bool some_are_absent = clients > 1 && dice.chance(30);
    const uint64_t times[] = {1'000, 100'000, 1'000'000, 1'000'000'000};
    const uint64_t patience = dice.one_of(times);
    const OnMissing on_missing = dice.chance(30) ? OnMissing::keep : OnMissing::publish;
    const uint64_t absent = dice.below(clients);
    for (uint64_t client = 0; some_are_absent && client < clients; ++client) {
      ClientPlan& of = phase.clients[client];
      of.others_wait = true;
      of.config.place.patience = static_cast<double>(patience) / 1e9;
      of.config.place.on_missing = on_missing;
      if (client != absent) continue;
      of.absence = Absence{};
      if (dice.chance(50)) of.absence->comes_at = dice.below(2 * patience);
      SplitDice late(seed, "late clients", index);
      if (of.absence->comes_at && late.chance(50)) of.absence = Absence{late.below(6 * patience), true};
    }
    if (!dice.chance(30)) continue;
    uint64_t client = dice.below(clients);
    if (some_are_absent && client == absent) client = (client + 1) % clients;
    if (!some_are_absent && dice.chance(40)) client = clients;  // one too many
    phase.stranger = Stranger{static_cast<int>(client), dice.below(dice.one_of(times))};
  }
}

// Limits how many iterations may be unfinished, with exactly the descriptors that they need. A client may have all
// iterations that it works on unfinished at once. Clients that share files must go through the same iterations one by
// one, or they would wait for one another for ever.
void limit_iterations(SplitDice dice, SessionPlan& plan, const Without& without) {
  if (without.iterations || dice.chance(40)) return;
  const bool shared = plan.phases[0].clients[0].config.storage.shares_files();
  for (PhasePlan& phase : plan.phases) {
    uint64_t all = 0;
    for (ClientPlan& client : phase.clients) {
      if (shared) client.iterations = 1;
      if (shared) client.first_iteration = phase.clients[0].first_iteration;
      const uint64_t limit = shared && &client != phase.clients.data() ? phase.clients[0].config.memory.iterations
                                                                       : client.iterations + dice.below(4);
      client.config.memory.iterations = static_cast<uint32_t>(limit);
      const uint64_t descriptors = limit * kDescriptorsPerIteration;
      client.storage.descriptors = descriptors;
      all += descriptors;
    }
    if (!phase.node) continue;
    // Each client of shared files may have begun another iteration at the same moment, and one for which it is late.
    const uint64_t clients = phase.clients.size();
    if (shared) all = (phase.clients[0].config.memory.iterations + 2 * clients) * kDescriptorsPerIteration;
    phase.node->storage.descriptors = all;
  }
}

// Returns the part of a path for which a fault waits, for files of several iterations.
std::string in_series(const std::string& path, uint64_t each) {
  std::smatch match;
  if (!std::regex_search(path, match, std::regex("(_[cn][0-9]+)_([0-9]+)\\.h5"))) return path;
  const uint64_t number = each == 0 ? 0 : std::stoull(match[2]) / each * each;
  const std::string file = fmt::format("{}_{:06}.h5", match.str(1), number);
  return match.prefix().str() + file + match.suffix().str();
}

// Plans files of several iterations. Programs go through the iterations one by one, each run through others. A power
// cut without syncs may leave any superblock, also one that tells of data that are not there.
void join_iterations(SplitDice dice, SessionPlan& plan) {
  if (!dice.chance(15)) return;
  const uint64_t each = dice.one_of<uint64_t>({0, 2, 5});
  for (size_t index = 0; index < plan.phases.size(); ++index) {
    for (ClientPlan& client : plan.phases[index].clients) {
      client.config.storage.iterations_per_file = each;
      client.config.place.on_missing = OnMissing::publish;
      client.iterations = 1;
      client.first_iteration = static_cast<int64_t>(index * 1000);
      const bool durable = client.config.storage.durability == Durability::durable;
      if (client.death) client.death->power = client.death->power && durable;
    }
  }
  for (HardFault& fault : plan.faults.hard) fault.path_contains = in_series(fault.path_contains, each);
}

// Plans files of the format plain, with XDMF files or without. Iterations have numbers of six digits: so the names
// are those by which recovery knows the files of a killed client.
void make_plain(SplitDice dice, SessionPlan& plan) {
  constexpr int64_t kFirst = 100'000;
  const Config& first = plan.phases[0].clients[0].config;
  if (first.storage.shares_files() || !first.storage.has_file_each() || first.has_particles() || !dice.chance(20))
    return;
  const XdmfIterations xdmf = dice.chance(50) ? XdmfIterations::every : XdmfIterations::none;
  const auto allow_for_xdmf = [xdmf](uint64_t& descriptors) {
    const bool limited = descriptors < UINT32_MAX;
    if (limited && xdmf != XdmfIterations::none) descriptors *= 2;
  };
  for (PhasePlan& phase : plan.phases) {
    if (phase.node) allow_for_xdmf(phase.node->storage.descriptors);
    for (ClientPlan& client : phase.clients) {
      allow_for_xdmf(client.storage.descriptors);
      client.first_iteration += kFirst;
      client.config.format.kind = FormatKind::plain;
      client.config.format.file = client.config.name + "_c{client}_{iteration}.h5";
      client.config.format.xdmf = xdmf;
      client.config.format.dimension_scales = false;
      for (Variable& variable : client.config.variables) {
        variable.dataset = variable.name;
        variable.record.vector = false;
      }
    }
  }
  for (HardFault& fault : plan.faults.hard) {
    std::smatch match;
    const std::string path = fault.path_contains;
    if (!std::regex_search(path, match, std::regex("(_c[0-9]+)_([0-9]+)\\.h5"))) continue;
    const int64_t number = std::stoll(match[2]) + kFirst;
    fault.path_contains =
        fmt::format("{}{}_{}.h5{}", match.prefix().str(), match.str(1), number, match.suffix().str());
  }
}

// Adds raw files that all clients of a server share; in place `thread` a server has one client.
void add_raw_files(SplitDice dice, SessionPlan& plan, bool core, const Without& without) {
  if (!dice.chance(40)) return;
  const bool two = dice.chance(40);
  const uint64_t percents[] = {15, 50, 90};
  const uint64_t sizes[] = {600, 4 * kPage, 4 * kPage, 16 * kPage};
  RawFilePlan raw{{}, dice.one_of(percents), dice.one_of(sizes)};
  for (PhasePlan& phase : plan.phases) {
    for (uint64_t client = 0; client < phase.clients.size(); ++client) {
      const std::string of = core ? "" : fmt::format("_{}", client);
      raw.paths = {"rows" + of + ".raw"};
      if (two) raw.paths.push_back("columns" + of + ".raw");
      phase.clients[client].raw_files = raw;
      Config& config = phase.clients[client].config;
      config.storage.backend = Backend::memory;  // it uses no real directory
      config.memory.budget += kPage * dice.between(0, 8);
    }
  }
  if (without.hard || dice.chance(50)) return;
  const DiskCall calls[] = {DiskCall::write, DiskCall::write, DiskCall::write,
                            DiskCall::read,  DiskCall::sync,  DiskCall::open};
  for (uint64_t count = dice.between(1, 2); count > 0; --count) {
    HardFault fault;
    fault.call = dice.one_of(calls);
    fault.path_contains = dice.chance(60) ? "rows" : ".raw";
    fault.first = dice.below(12);
    fault.times = dice.chance(80) ? dice.between(1, 2) : HardFault::kForever;
    fault.error = dice.chance(60) ? EIO : ENOSPC;
    fault.torn = fault.call == DiskCall::write && dice.chance(50);
    plan.faults.hard.push_back(fault);
  }
}

// Writes that keep to a rate while the clients do something else, in three of ten runs. What it asks of clients, that
// they say when they wait, all of them do, as they have the same configuration.
void limit_rates(SplitDice dice, SessionPlan& plan) {
  if (!dice.chance(30)) return;
  const uint64_t rates[] = {1'000'000, 30'000'000, 1'000'000'000};
  Throttle throttle{Throttle::Kind::rate, dice.one_of(rates)};
  if (dice.chance(30)) throttle = {Throttle::Kind::automatic, 0};
  const auto limit = [&](EngineOptions& engine) {
    engine.govern = throttle.kind == Throttle::Kind::automatic;
    if (!engine.govern) engine.execute.rate = throttle.rate;
  };
  for (PhasePlan& phase : plan.phases) {
    for (ClientPlan& client : phase.clients) {
      client.config.storage.throttle = throttle;
      limit(client.engine);
    }
    if (phase.node) limit(phase.node->engine);
  }
}

}  // namespace

std::string owner_of_files(const Config& config, int client) {
  return config.storage.file_per == FilePer::node ? fmt::format("n{}", config.place.node)
                                                  : fmt::format("c{}", client);
}

SessionPlan draw_session(uint64_t seed, InPlace place, const Without& without) {
  SplitDice dice(seed, place == InPlace::core ? "core" : "session");
  const bool core = place == InPlace::core;
  const uint64_t others = core ? dice.below(3) : dice.chance(35);
  const uint64_t clients = without.company ? 1 : 1 + others;
  const bool restarts = dice.chance(45) && !without.restarts;
  std::vector<std::string> paths = {"d0"};
  if (dice.chance(25)) paths.push_back("d1");
  Config base = sample_config(std::move(paths), some_variables(dice));
  name_lengths(base);
  if (SplitDice(seed, "particles").chance(30)) have_particles(base);
  if (!without.arrays) vary_arrays(SplitDice(seed, "arrays"), base);
  if (!without.filters) filter_variables(SplitDice(seed, "filters"), base);
  SessionPlan plan;
  for (uint64_t phase = 0; phase < (restarts ? 2u : 1u); ++phase) {
    PhasePlan of;
    const uint32_t switches[] = {3, 15, 50, 100};
    of.world.switch_percent = dice.one_of(switches);
    of.recovered = dice.chance(60);
    of.world.spurious_percent = dice.chance(50) ? 10 : 0;
    for (uint64_t client = 0; client < clients; ++client) {
      const uint64_t stream = core ? 100 + 10 * phase + client : 2 * phase + client;
      of.clients.push_back(some_client(SplitDice(seed, "client", stream), base, without));
      of.clients.back().changes = SplitDice(seed, "changes", stream).chance(25);
      of.clients.back().lingers = SplitDice(seed, "lingers", stream).chance(40);
      const bool again = dice.chance(70);  // the same iterations as the earlier run
      if (!again) of.clients.back().first_iteration = static_cast<int64_t>(phase * 1000);
    }
    if (core) {
      of.node = some_node(SplitDice(seed, "node", phase), without);
      if (!without.server_deaths) of.node->line_death = some_line_death(SplitDice(seed, "line", phase));
      if (SplitDice room(seed, "ledger", phase); room.chance(10)) of.node->ledger_room = room.between(1, 60);
      make_common(of);
    }
    plan.phases.push_back(std::move(of));
  }
  plan.faults = draw_faults(SplitDice(seed, "faults"), static_cast<uint32_t>(clients), 12, without);
  for (PhasePlan& phase : plan.phases) {
    for (ClientPlan& client : phase.clients) client.engine.execute.patience = plan.faults.patience;
    if (phase.node) phase.node->engine.execute.patience = plan.faults.patience;
  }
  if (SplitDice files(seed, "files"); core && !without.node_files && files.chance(50)) share_files(files, plan);
  if (plan.phases[0].clients[0].config.storage.shares_files() && !without.strangers) add_strangers(seed, plan);
  limit_iterations(SplitDice(seed, "iterations"), plan, without);
  if (!without.iterations) join_iterations(SplitDice(seed, "files of several iterations"), plan);
  make_plain(SplitDice(seed, "format plain"), plan);
  if (!without.raw_files) add_raw_files(SplitDice(seed, "raw files", core ? 1 : 0), plan, core, without);
  limit_rates(SplitDice(seed, "rates"), plan);
  hold_large_grids(plan);
  return plan;
}

}  // namespace tailrace::impl::simulation
