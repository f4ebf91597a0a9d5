// Loads the file handler into programs of OpenFOAM, and nothing into others. This library is preloaded: mpiexec and
// scripts pass the preload on to the programs that they start, and OpenFOAM's library ends a program that finds no
// etc/controlDict.
#include <dlfcn.h>

#include <cstdio>
#include <string>

namespace {

// A variable of libOpenFOAM: Foam::fileOperation::fileHandlerPtr_.
constexpr char kOfOpenFoam[] = "_ZN4Foam13fileOperation15fileHandlerPtr_E";

__attribute__((constructor)) void load_handler() {
  if (dlsym(RTLD_DEFAULT, kOfOpenFoam) == nullptr) return;
  Dl_info own{};
  if (dladdr(reinterpret_cast<void*>(&load_handler), &own) == 0) return;
  const std::string path = own.dli_fname;
  const std::string handler = path.substr(0, path.rfind('/') + 1) + "libtailraceFoam.so";
  if (dlopen(handler.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    std::fprintf(stderr, "tailrace: OpenFOAM's file handler cannot be loaded: %s\n", dlerror());
  }
}

}  // namespace
