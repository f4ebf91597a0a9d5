// The functions of Damaris.h. Each checks its arguments, lets no exception out, and explains its code on stderr.
#include <cstring>
#include <exception>
#include <iterator>
#include <memory>
#include <string>

#include "damaris/include/Damaris.h"
#include "damaris/ranks/failure.hpp"
#include "damaris/run/program.hpp"

namespace {

namespace damaris = tailrace::damaris;

// The one program of this process; none before damaris_initialize and after damaris_finalize.
std::unique_ptr<damaris::Program>& program() {
  static std::unique_ptr<damaris::Program> one;
  return one;
}

// Carries out a call that needs a program.
template <class Call>
int guarded(const char* name, const Call& call) {
  try {
    if (!program()) {
      damaris::say(std::string(name) + ": found no damaris_initialize before it");
      return DAMARIS_NOT_INITIALIZED;
    }
    return call(*program());
  } catch (const damaris::Failure& failure) {
    if (*failure.what() != '\0') damaris::say(std::string(name) + ": " + failure.what());  // else another rank does
    return failure.code;
  } catch (const damaris::ExpressionError& error) {
    damaris::say(std::string(name) + ": the dimensions of the block: found " + error.what());
    return DAMARIS_INVALID_DIMENSIONS;
  } catch (const std::exception& error) {
    damaris::say(std::string(name) + ": " + error.what());
    return DAMARIS_ERROR_UNKNOWN;
  }
}

int null_argument(const char* name) {
  damaris::say(std::string(name) + ": found NULL, expected an address");
  return DAMARIS_ARGUMENT_ERROR;
}

DAMARIS_TYPE_STR type_name(damaris::ElementType type) {
  switch (type) {
    case damaris::ElementType::int8: return DAMARIS_TYPE_CHAR;
    case damaris::ElementType::int16: return DAMARIS_TYPE_SHORT;
    case damaris::ElementType::int32: return DAMARIS_TYPE_INT;
    case damaris::ElementType::int64: return DAMARIS_TYPE_LONG;
    case damaris::ElementType::float32: return DAMARIS_TYPE_FLOAT;
    case damaris::ElementType::float64: return DAMARIS_TYPE_DOUBLE;
    case damaris::ElementType::text: return DAMARIS_TYPE_STRING;
  }
  return DAMARIS_TYPE_UNDEFINED;
}

}  // namespace

extern "C" {

int damaris_initialize(const char* configfile, MPI_Comm comm) {
  if (configfile == nullptr) return null_argument("damaris_initialize");
  if (program()) {
    damaris::say("damaris_initialize: found a second call of it");
    return DAMARIS_ALREADY_INITIALIZED;
  }
  try {
    program() = std::make_unique<damaris::Program>(configfile, comm);
    return DAMARIS_OK;
  } catch (const damaris::Failure& failure) {
    if (*failure.what() != '\0') damaris::say(std::string("damaris_initialize: ") + failure.what());
    return failure.code;
  } catch (const std::exception& error) {
    damaris::say(std::string("damaris_initialize: ") + error.what());
    return DAMARIS_INIT_ERROR;
  }
}

int damaris_finalize(void) {
  const int code = guarded("damaris_finalize", [](damaris::Program& one) { return one.finalize(); });
  program().reset();
  return code;
}

int damaris_start(int* is_client) {
  if (is_client == nullptr) return null_argument("damaris_start");
  return guarded("damaris_start", [&](damaris::Program& one) { return one.start(is_client); });
}

int damaris_stop(void) {
  return guarded("damaris_stop", [](damaris::Program& one) { return one.stop(); });
}

int damaris_write_block(const char* varname, int32_t block, const void* data) {
  if (varname == nullptr) return null_argument("damaris_write");
  return guarded("damaris_write", [&](damaris::Program& one) { return one.write(varname, block, data); });
}

int damaris_write(const char* varname, const void* data) { return damaris_write_block(varname, 0, data); }

int damaris_alloc_block(const char* varname, int32_t block, void** ptr) {
  if (varname == nullptr || ptr == nullptr) return null_argument("damaris_alloc");
  return guarded("damaris_alloc", [&](damaris::Program& one) { return one.alloc(varname, block, ptr); });
}

int damaris_alloc(const char* varname, void** ptr) { return damaris_alloc_block(varname, 0, ptr); }

int damaris_commit_block_iteration(const char* varname, int32_t block, int32_t iteration) {
  if (varname == nullptr) return null_argument("damaris_commit");
  return guarded("damaris_commit", [&](damaris::Program& one) { return one.commit(varname, block, iteration); });
}

int damaris_commit_block(const char* varname, int32_t block) {
  if (varname == nullptr) return null_argument("damaris_commit");
  return guarded("damaris_commit",
                 [&](damaris::Program& one) { return one.commit(varname, block, one.iteration()); });
}

int damaris_commit_iteration(const char* varname, int32_t iteration) {
  return damaris_commit_block_iteration(varname, 0, iteration);
}

int damaris_commit(const char* varname) { return damaris_commit_block(varname, 0); }

int damaris_clear_block_iteration(const char* varname, int32_t block, int32_t iteration) {
  if (varname == nullptr) return null_argument("damaris_clear");
  return guarded("damaris_clear", [&](damaris::Program& one) { return one.clear(varname, block, iteration); });
}

int damaris_clear_block(const char* varname, int32_t block) {
  if (varname == nullptr) return null_argument("damaris_clear");
  return guarded("damaris_clear", [&](damaris::Program& one) { return one.clear(varname, block, one.iteration()); });
}

int damaris_clear_iteration(const char* varname, int32_t iteration) {
  return damaris_clear_block_iteration(varname, 0, iteration);
}

int damaris_clear(const char* varname) { return damaris_clear_block(varname, 0); }

int damaris_signal(const char* signal_name) {
  if (signal_name == nullptr) return null_argument("damaris_signal");
  return guarded("damaris_signal", [&](damaris::Program& one) { return one.signal(signal_name); });
}

int damaris_bind(const char* signal_name, signal_t sig) {
  if (signal_name == nullptr || sig == nullptr) return null_argument("damaris_bind");
  return guarded("damaris_bind", [&](damaris::Program& one) { return one.bind(signal_name, sig); });
}

int damaris_parameter_get(const char* param_name, void* buffer, unsigned int size) {
  if (param_name == nullptr || buffer == nullptr) return null_argument("damaris_parameter_get");
  return guarded("damaris_parameter_get", [&](damaris::Program& one) {
    return one.parameters().get(param_name, buffer, size) ? DAMARIS_OK : DAMARIS_UNDEFINED_PARAMETER;
  });
}

int damaris_parameter_set(const char* param_name, const void* buffer, unsigned int size) {
  if (param_name == nullptr || buffer == nullptr) return null_argument("damaris_parameter_set");
  return guarded("damaris_parameter_set", [&](damaris::Program& one) {
    return one.parameters().set(param_name, buffer, size) ? DAMARIS_OK : DAMARIS_UNDEFINED_PARAMETER;
  });
}

int damaris_set_block_position(const char* var_name, int32_t block, const int64_t* position) {
  if (var_name == nullptr || position == nullptr) return null_argument("damaris_set_position");
  return guarded("damaris_set_position", [&](damaris::Program& one) { return one.move(var_name, block, position); });
}

int damaris_set_position(const char* var_name, const int64_t* position) {
  return damaris_set_block_position(var_name, 0, position);
}

int damaris_client_comm_get(MPI_Comm* comm) {
  if (comm == nullptr) return null_argument("damaris_client_comm_get");
  return guarded("damaris_client_comm_get", [&](damaris::Program& one) {
    *comm = one.same();
    return DAMARIS_OK;
  });
}

int damaris_get_type(const char* variable_name, DAMARIS_TYPE_STR* vartype) {
  if (variable_name == nullptr || vartype == nullptr) return null_argument("damaris_get_type");
  return guarded("damaris_get_type", [&](damaris::Program& one) {
    *vartype = type_name(one.type_of(variable_name));
    return DAMARIS_OK;
  });
}

const char* damaris_error_string(int code) {
  constexpr const char* names[] = {"DAMARIS_OK",
                                   "DAMARIS_INIT_ERROR",
                                   "DAMARIS_FINALIZE_ERROR",
                                   "DAMARIS_CORE_IS_SERVER",
                                   "DAMARIS_NO_SERVER",
                                   "DAMARIS_ALLOCATION_ERROR",
                                   "DAMARIS_CONFIG_ERROR",
                                   "DAMARIS_ARGUMENT_ERROR",
                                   "DAMARIS_MPI_ERROR",
                                   "DAMARIS_DATASPACE_ERROR",
                                   "DAMARIS_CHANNEL_ERROR",
                                   "DAMARIS_INVALID_TAG",
                                   "DAMARIS_NOT_INITIALIZED",
                                   "DAMARIS_ALREADY_INITIALIZED",
                                   "DAMARIS_UNDEFINED_ACTION",
                                   "DAMARIS_UNDEFINED_PARAMETER",
                                   "DAMARIS_UNDEFINED_VARIABLE",
                                   "DAMARIS_INVALID_BLOCK",
                                   "DAMARIS_INVALID_DIMENSIONS",
                                   "DAMARIS_BLOCK_NOT_FOUND",
                                   "DAMARIS_REACTOR_NOT_FOUND",
                                   "DAMARIS_BIND_ERROR",
                                   "DAMARIS_ERROR_UNKNOWN"};
  static_assert(std::size(names) == DAMARIS_ERROR_UNKNOWN + 1);
  return code >= 0 && code <= DAMARIS_ERROR_UNKNOWN ? names[code] : "no code of Damaris";
}

int damaris_has_plugin(DAMARIS_PLUGIN_TYPE) {
  try {
    damaris::say(
        "damaris_has_plugin: returns 0 (not available) for every plugin, as it cannot know which one a "
        "number means; files in HDF5 and scripts in Python still work");
  } catch (const std::exception&) {  // no memory to remember the line: it is not worth a failure
  }
  return 0;
}

int damaris_end_iteration(void) {
  return guarded("damaris_end_iteration", [](damaris::Program& one) { return one.end_iteration(); });
}

int damaris_get_iteration(int* iteration) {
  if (iteration == nullptr) return null_argument("damaris_get_iteration");
  return guarded("damaris_get_iteration", [&](damaris::Program& one) {
    *iteration = static_cast<int>(one.iteration());
    return DAMARIS_OK;
  });
}

}  // extern "C"
