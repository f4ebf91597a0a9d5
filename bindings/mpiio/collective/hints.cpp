#include "mpiio/collective/hints.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <limits>
#include <optional>

#include "mpiio/mpi/real_mpi.hpp"

namespace tailrace::mpiio {
namespace {

using collective::Algorithm;
using collective::name_of;
using collective::Options;

constexpr std::array kAlgorithms{Algorithm::automatic, Algorithm::individual, Algorithm::two_phase,
                                 Algorithm::dynamic, Algorithm::static_};

std::optional<std::string> hint(MPI_Info info, const char* key) {
  std::array<char, MPI_MAX_INFO_VAL + 1> value{};
  int found = 0;
  TAILRACE_REAL(MPI_Info_get)(info, key, MPI_MAX_INFO_VAL, value.data(), &found);
  return found != 0 ? std::optional<std::string>(value.data()) : std::nullopt;
}

void complain(const char* key, const std::string& value, const char* expected) {
  std::fprintf(stderr, "tailrace: found the hint %s=%s, which is ignored: expected %s\n", key, value.c_str(),
               expected);
}

// Sets `number` to the hint's value, if it has one of at least 1.
template <class Number>
void read_number(MPI_Info info, const char* key, Number& number) {
  const std::optional<std::string> value = hint(info, key);
  if (!value.has_value()) return;
  uint64_t found = 0;
  const char* const end = value->data() + value->size();
  const auto [last, error] = std::from_chars(value->data(), end, found);
  if (error != std::errc() || last != end || found < 1 || found > std::numeric_limits<Number>::max()) {
    return complain(key, *value, "a number of at least 1");
  }
  number = static_cast<Number>(found);
}

void read_algorithm(MPI_Info info, Choices& choices) {
  const std::optional<std::string> value = hint(info, "tailrace_collective");
  if (!value.has_value() || take_algorithm(*value, choices)) return;
  complain("tailrace_collective", *value, "auto, tune, individual, two_phase, dynamic or static");
}

// The words that programs have written for ROMIO.
void read_romio(MPI_Info info, const char* key, Options& options) {
  const std::optional<std::string> value = hint(info, key);
  if (value == "enable") options.algorithm = Algorithm::two_phase;
  if (value == "disable") options.algorithm = Algorithm::individual;
  if (value == "automatic") options.algorithm = Algorithm::automatic;
}

void read_aggregators(MPI_Info info, Choices& choices) {
  const std::optional<std::string> value = hint(info, "tailrace_aggregators");
  if (!value.has_value() || value == "ranks") return;
  if (value == "node" || value == "forwarders") {
    choices.writes.algorithm = Algorithm::individual;
    choices.tunes = false;
  } else {
    complain("tailrace_aggregators", *value, "ranks, node or forwarders");
  }
}

void read_numbers(MPI_Info info, Options& options) {
  read_number(info, "cb_nodes", options.aggregators);
  read_number(info, "tailrace_aggregators_per_group", options.aggregators_per_group);
  read_number(info, "cb_buffer_size", options.cycle_bytes);
  read_number(info, "striping_unit", options.alignment);
}

void read_sieve(MPI_Info info, uint64_t& bytes) {
  read_number(info, "ind_rd_buffer_size", bytes);
  if (hint(info, "romio_ds_read") == "disable") bytes = 0;
}

}  // namespace

bool take_algorithm(const std::string& name, Choices& choices) {
  const bool tunes = name == "tune";
  for (const Algorithm algorithm : kAlgorithms) {
    if (name != (tunes ? "tune" : name_of(algorithm))) continue;
    choices.tunes = tunes;
    choices.writes.algorithm = choices.reads.algorithm = algorithm;
    return true;
  }
  return false;
}

const char* name_of(const Choices& choices) { return choices.tunes ? "tune" : name_of(choices.writes.algorithm); }

Choices read_hints(MPI_Info info, Choices choices) {
  if (info == MPI_INFO_NULL) return choices;
  read_romio(info, "romio_cb_write", choices.writes);
  choices.tunes = choices.tunes && choices.writes.algorithm == Algorithm::automatic;
  read_romio(info, "romio_cb_read", choices.reads);
  read_algorithm(info, choices);
  read_aggregators(info, choices);
  read_numbers(info, choices.writes);
  choices.reads.aggregators = choices.writes.aggregators;
  choices.reads.aggregators_per_group = choices.writes.aggregators_per_group;
  choices.reads.cycle_bytes = choices.writes.cycle_bytes;
  choices.reads.alignment = choices.writes.alignment;
  read_sieve(info, choices.sieve_bytes);
  return choices;
}

}  // namespace tailrace::mpiio
