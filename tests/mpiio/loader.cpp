// mpiio_loader LIBRARY ARGUMENT…: loads a program that is built as a library, and runs its main(). It is linked to no
// MPI, and the library's symbols stay its own (RTLD_LOCAL): so do those of its MPI, as in Python and in programs with
// plugins.
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: mpiio_loader LIBRARY [ARGUMENT ...]\n");
    return 2;
  }
  void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  void* const start = library != nullptr ? dlsym(library, "main") : nullptr;
  if (start == nullptr) {
    std::fprintf(stderr, "mpiio_loader: %s\n", dlerror());
    return 1;
  }
  return reinterpret_cast<int (*)(int, char**)>(start)(argc - 1, argv + 1);
}
