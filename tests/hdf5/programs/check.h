// CHECK for C programs that are tests: prints the condition that fails, and ends the program.
#ifndef TAILRACE_TESTS_HDF5_CHECK_H
#define TAILRACE_TESTS_HDF5_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                \
  do {                                                                  \
    if (!(condition)) {                                                 \
      fprintf(stderr, "line %d: not true: %s\n", __LINE__, #condition); \
      exit(1);                                                          \
    }                                                                   \
  } while (0)

#endif
