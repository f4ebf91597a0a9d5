// The Fortran names of Damaris' functions: each passes its arguments on. A text has its length as a hidden argument
// at the end, and blanks behind it.
#include <cstddef>
#include <string>

#include "damaris/include/Damaris.h"

namespace {

std::string text_of(const char* text, size_t length) {
  while (length > 0 && text[length - 1] == ' ') --length;
  return {text, length};
}

}  // namespace

extern "C" {

TAILRACE_DAMARIS_API void damaris_initialize_f_(const char* file, const MPI_Fint* comm, int* code, size_t length) {
  *code = damaris_initialize(text_of(file, length).c_str(), MPI_Comm_f2c(*comm));
}

TAILRACE_DAMARIS_API void damaris_finalize_f_(int* code) { *code = damaris_finalize(); }

TAILRACE_DAMARIS_API void damaris_start_f_(int* is_client, int* code) { *code = damaris_start(is_client); }

TAILRACE_DAMARIS_API void damaris_stop_f_(int* code) { *code = damaris_stop(); }

TAILRACE_DAMARIS_API void damaris_client_comm_get_f_(MPI_Fint* comm, int* code) {
  MPI_Comm found = MPI_COMM_NULL;
  *code = damaris_client_comm_get(&found);
  if (*code == DAMARIS_OK) *comm = MPI_Comm_c2f(found);
}

TAILRACE_DAMARIS_API void damaris_write_f_(const char* variable, const void* data, int* code, size_t length) {
  *code = damaris_write(text_of(variable, length).c_str(), data);
}

TAILRACE_DAMARIS_API void damaris_write_block_f_(const char* variable, const int* block, const void* data, int* code,
                                                 size_t length) {
  *code = damaris_write_block(text_of(variable, length).c_str(), *block, data);
}

TAILRACE_DAMARIS_API void* damaris_alloc_f_(const char* variable, int* code, size_t length) {
  void* memory = nullptr;
  *code = damaris_alloc(text_of(variable, length).c_str(), &memory);
  return memory;
}

TAILRACE_DAMARIS_API void* damaris_alloc_block_f_(const char* variable, const int* block, int* code, size_t length) {
  void* memory = nullptr;
  *code = damaris_alloc_block(text_of(variable, length).c_str(), *block, &memory);
  return memory;
}

TAILRACE_DAMARIS_API void damaris_commit_f_(const char* variable, int* code, size_t length) {
  *code = damaris_commit(text_of(variable, length).c_str());
}

TAILRACE_DAMARIS_API void damaris_commit_block_f_(const char* variable, const int* block, int* code, size_t length) {
  *code = damaris_commit_block(text_of(variable, length).c_str(), *block);
}

TAILRACE_DAMARIS_API void damaris_commit_iteration_f_(const char* variable, const int* iteration, int* code,
                                                      size_t length) {
  *code = damaris_commit_iteration(text_of(variable, length).c_str(), *iteration);
}

TAILRACE_DAMARIS_API void damaris_commit_block_iteration_f_(const char* variable, const int* block,
                                                            const int* iteration, int* code, size_t length) {
  *code = damaris_commit_block_iteration(text_of(variable, length).c_str(), *block, *iteration);
}

TAILRACE_DAMARIS_API void damaris_clear_f_(const char* variable, int* code, size_t length) {
  *code = damaris_clear(text_of(variable, length).c_str());
}

TAILRACE_DAMARIS_API void damaris_clear_block_f_(const char* variable, const int* block, int* code, size_t length) {
  *code = damaris_clear_block(text_of(variable, length).c_str(), *block);
}

TAILRACE_DAMARIS_API void damaris_clear_iteration_f_(const char* variable, const int* iteration, int* code,
                                                     size_t length) {
  *code = damaris_clear_iteration(text_of(variable, length).c_str(), *iteration);
}

TAILRACE_DAMARIS_API void damaris_clear_block_iteration_f_(const char* variable, const int* block,
                                                           const int* iteration, int* code, size_t length) {
  *code = damaris_clear_block_iteration(text_of(variable, length).c_str(), *block, *iteration);
}

TAILRACE_DAMARIS_API void damaris_signal_f_(const char* event, int* code, size_t length) {
  *code = damaris_signal(text_of(event, length).c_str());
}

TAILRACE_DAMARIS_API void damaris_parameter_get_f_(const char* parameter, void* value, const int* bytes, int* code,
                                                   size_t length) {
  const auto size = static_cast<unsigned>(*bytes < 0 ? 0 : *bytes);
  *code = damaris_parameter_get(text_of(parameter, length).c_str(), value, size);
}

TAILRACE_DAMARIS_API void damaris_parameter_set_f_(const char* parameter, const void* value, const int* bytes,
                                                   int* code, size_t length) {
  const auto size = static_cast<unsigned>(*bytes < 0 ? 0 : *bytes);
  *code = damaris_parameter_set(text_of(parameter, length).c_str(), value, size);
}

TAILRACE_DAMARIS_API void damaris_set_position_f_(const char* variable, const int64_t* position, int* code,
                                                  size_t length) {
  *code = damaris_set_position(text_of(variable, length).c_str(), position);
}

TAILRACE_DAMARIS_API void damaris_set_block_position_f_(const char* variable, const int* block,
                                                        const int64_t* position, int* code, size_t length) {
  *code = damaris_set_block_position(text_of(variable, length).c_str(), *block, position);
}

TAILRACE_DAMARIS_API void damaris_has_plugin_f_(const int* plugin, int* available) {
  *available = damaris_has_plugin(*plugin);
}

TAILRACE_DAMARIS_API void damaris_end_iteration_f_(int* code) { *code = damaris_end_iteration(); }

TAILRACE_DAMARIS_API void damaris_get_iteration_f_(int* iteration, int* code) {
  *code = damaris_get_iteration(iteration);
}

}  // extern "C"
