#include "mpiio/collective/hints.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <limits>

#include "mpiio/mpi/real_mpi.hpp"

namespace tailrace::mpiio {
namespace {

using collective::Algorithm;
using collective::Options;

struct Name {
  const char* name;
  Algorithm algorithm;
};
constexpr std::array<Name, 5> kNames{{{"auto", Algorithm::automatic},
                                      {"individual", Algorithm::individual},
                                      {"two_phase", Algorithm::two_phase},
                                      {"dynamic", Algorithm::dynamic},
                                      {"static", Algorithm::static_}}};

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
  if (!value.has_value()) return;
  const std::optional<Algorithm> algorithm = algorithm_named(*value);
  if (!algorithm.has_value()) {
    return complain("tailrace_collective", *value, "auto, individual, two_phase, dynamic or static");
  }
  choices.writes.algorithm = *algorithm;
  choices.reads.algorithm = *algorithm;
}

// The words that programs have written for ROMIO.
void read_romio(MPI_Info info, const char* key, Options& options) {
  const std::optional<std::string> value = hint(info, key);
  if (value == "enable") options.algorithm = Algorithm::two_phase;
  if (value == "disable") options.algorithm = Algorithm::individual;
  if (value == "automatic") options.algorithm = Algorithm::automatic;
}

void read_aggregators(MPI_Info info, Options& writes) {
  const std::optional<std::string> value = hint(info, "tailrace_aggregators");
  if (!value.has_value() || value == "ranks") return;
  if (value == "node" || value == "forwarders") {
    writes.algorithm = Algorithm::individual;
  } else {
    complain("tailrace_aggregators", *value, "ranks, node or forwarders");
  }
}

void read_numbers(MPI_Info info, Options& options) {
  read_number(info, "cb_nodes", options.aggregators);
  read_number(info, "cb_buffer_size", options.cycle_bytes);
  read_number(info, "striping_unit", options.alignment);
}

void read_sieve(MPI_Info info, uint64_t& bytes) {
  read_number(info, "ind_rd_buffer_size", bytes);
  if (hint(info, "romio_ds_read") == "disable") bytes = 0;
}

}  // namespace

std::optional<Algorithm> algorithm_named(const std::string& name) {
  for (const Name& one : kNames) {
    if (name == one.name) return one.algorithm;
  }
  return std::nullopt;
}

const char* name_of(Algorithm algorithm) {
  for (const Name& one : kNames) {
    if (algorithm == one.algorithm) return one.name;
  }
  return "auto";
}

Choices read_hints(MPI_Info info, Choices choices) {
  if (info == MPI_INFO_NULL) return choices;
  read_romio(info, "romio_cb_write", choices.writes);
  read_romio(info, "romio_cb_read", choices.reads);
  read_algorithm(info, choices);
  read_aggregators(info, choices.writes);
  read_numbers(info, choices.writes);
  choices.reads.aggregators = choices.writes.aggregators;
  choices.reads.cycle_bytes = choices.writes.cycle_bytes;
  choices.reads.alignment = choices.writes.alignment;
  read_sieve(info, choices.sieve_bytes);
  return choices;
}

}  // namespace tailrace::mpiio
