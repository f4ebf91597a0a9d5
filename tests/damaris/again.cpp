// A C++ program that starts and stops twice: the iterations go on.
#include <array>
#include <cstdio>
#include <cstring>

#include "Damaris.h"

namespace {

int write_some(int count) {
  std::array<float, 4> values{};
  for (int i = 0; i < count; ++i) {
    int iteration = -1;
    damaris_get_iteration(&iteration);
    values.fill(static_cast<float>(iteration));
    const int written = damaris_write("t", values.data());
    const int ended = damaris_end_iteration();
    if (written != DAMARIS_OK || ended != DAMARIS_OK) return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int before = damaris_write("t", nullptr);
  int failures = before == DAMARIS_NOT_INITIALIZED ? 0 : 1;
  failures += damaris_initialize(argv[1], MPI_COMM_WORLD) != DAMARIS_OK;
  failures += damaris_initialize(argv[1], MPI_COMM_WORLD) != DAMARIS_ALREADY_INITIALIZED;
  failures += damaris_write(nullptr, nullptr) != DAMARIS_ARGUMENT_ERROR;
  DAMARIS_TYPE_STR type = DAMARIS_TYPE_UNDEFINED;
  failures += damaris_get_type("t", &type) != DAMARIS_OK || type != DAMARIS_TYPE_FLOAT;
  failures += damaris_get_type("u", &type) != DAMARIS_UNDEFINED_VARIABLE;
  failures += std::strcmp(damaris_error_string(DAMARIS_NO_SERVER), "DAMARIS_NO_SERVER") != 0;
  for (int run = 0; run < 2; ++run) {
    int is_client = -1;
    failures += damaris_start(&is_client) != DAMARIS_OK;
    if (is_client == 0) {
      failures += damaris_end_iteration() != DAMARIS_CORE_IS_SERVER;
      continue;
    }
    failures += write_some(2);
    failures += damaris_stop() != DAMARIS_OK;
  }
  failures += damaris_finalize() != DAMARIS_OK;
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
