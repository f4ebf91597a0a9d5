#include "mpiio/mpi/real_mpi.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace tailrace::mpiio {
namespace {

#ifdef OPEN_MPI
constexpr bool kIsOpenMpi = true;
#else
constexpr bool kIsOpenMpi = false;
#endif

// Returns the paths of all libraries that are loaded, in the order of loading.
std::vector<std::string> loaded_libraries() {
  std::vector<std::string> paths;
  const auto note = [](dl_phdr_info* of, size_t, void* to) {
    if (of->dlpi_name[0] != '\0') static_cast<std::vector<std::string>*>(to)->emplace_back(of->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(note, &paths);
  return paths;
}

// Returns the base address of the library or program that has the symbol.
const void* home_of(const void* symbol) {
  Dl_info found{};
  return dladdr(symbol, &found) != 0 ? found.dli_fbase : nullptr;
}

// Looks in each library, and in those that it is linked to. A library that was loaded for itself (RTLD_LOCAL: mpi4py,
// plugins) has symbols that a search by the order of loading does not find, though its own calls come here. The
// library that has the symbol stays loaded.
void* find_in_libraries(const char* name) {
  const void* const own = home_of(reinterpret_cast<const void*>(&find_next));
  for (const std::string& path : loaded_libraries()) {
    void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    void* const found = dlsym(library, name);
    if (found != nullptr && home_of(found) != own) return found;
    dlclose(library);
  }
  return nullptr;
}

// Returns true if the function is that of an MPI whose constants and types differ from those of this library. A
// process may have both MPIs, and a profiler's functions are in neither.
bool is_of_other_mpi(const void* function) {
  const void* const object_of_open_mpi = find_next("ompi_mpi_comm_world");
  if (kIsOpenMpi) return function != nullptr && object_of_open_mpi == nullptr;
  return object_of_open_mpi != nullptr && home_of(object_of_open_mpi) == home_of(function);
}

}  // namespace

void* find_next(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  return found != nullptr ? found : find_in_libraries(name);
}

void* next_function(const char* name) {
  void* const found = find_next(name);
  if (is_of_other_mpi(found)) {
    std::fprintf(
        stderr,
        "tailrace: found a program of %s, expected one of %s, whose mpiexec has started it under tailrace run\n",
        kIsOpenMpi ? "MPICH" : "Open MPI", kIsOpenMpi ? "Open MPI" : "MPICH");
    std::abort();
  }
  if (found != nullptr) return found;
  std::fprintf(stderr, "tailrace: found no function %s in the libraries of this process, expected that of an MPI\n",
               name);
  std::abort();
}

#ifdef OPEN_MPI
// A program may have a copy of the object, which all use then: it comes first in the order of loading.
void* mpi_object(const char* name) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  return found != nullptr ? found : find_in_libraries(name);
}
#endif

}  // namespace tailrace::mpiio
