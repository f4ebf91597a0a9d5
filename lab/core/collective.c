/* collective.c: the collective way of `tailrace bench jitter`: one shared file for each iteration, by
 * MPI_File_write_at_all.
 *
 * The loop is that of run.cpp, with the same computation (libpattern_compute.so) and the same JSON document. The
 * mpicc of the chosen MPI compiles it, so it knows nothing else of tailrace. A process that cannot continue says why
 * and aborts the job.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <getopt.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct settings {
  const char* library; /* libpattern_compute.so */
  const char* dir;
  int bytes; /* of a process's block */
  int iterations;
  uint64_t passes;
} settings;

typedef struct computation {
  void* (*make)(const char* kernel, int threads, const char* memory);
  void (*run)(void* kernel, uint64_t passes);
  void* kernel;
} computation;

/* Of one process; gathered by the first as they are: doubles alone. */
typedef struct result {
  double started, computed, left, done;
} result;

static void fail(const char* what, const char* why) {
  fprintf(stderr, "collective: %s: %s\n", what, why);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static void check(int code, const char* what) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (code == MPI_SUCCESS) return;
  MPI_Error_string(code, text, &length);
  fail(what, text);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static settings parse(int argc, char** argv) {
  static const struct option options[] = {{"library", 1, NULL, 'l'}, {"dir", 1, NULL, 'd'},
                                          {"bytes", 1, NULL, 'b'},   {"iterations", 1, NULL, 'i'},
                                          {"passes", 1, NULL, 'p'},  {NULL, 0, NULL, 0}};
  settings found = {NULL, NULL, 1 << 20, 1, 1};
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (option == 'l') found.library = optarg;
    if (option == 'd') found.dir = optarg;
    if (option == 'b') found.bytes = atoi(optarg);
    if (option == 'i') found.iterations = atoi(optarg);
    if (option == 'p') found.passes = strtoull(optarg, NULL, 10);
    if (option == '?') fail("the command line", "an unknown option");
  }
  if (found.library == NULL || found.dir == NULL) fail("the command line", "--library and --dir are needed");
  if (found.bytes < 4096 || found.iterations < 1) fail("the command line", "--bytes or --iterations is too small");
  return found;
}

static computation load(const settings* settings) {
  computation it;
  void* const library = dlopen(settings->library, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) fail("--library", dlerror());
  *(void**)&it.make = dlsym(library, "pattern_compute_new");
  *(void**)&it.run = dlsym(library, "pattern_compute_run");
  if (!it.make || !it.run) fail(settings->library, "not the pattern's library");
  it.kernel = it.make("busy", 1, "heap");
  if (it.kernel == NULL) fail(settings->library, "has no kernel of that name");
  return it;
}

static void put(const settings* settings, int rank, int iteration, const char* block) {
  char name[4096];
  MPI_File file;
  const int mode = MPI_MODE_CREATE | MPI_MODE_WRONLY;
  const MPI_Offset offset = (MPI_Offset)rank * settings->bytes;
  if (snprintf(name, sizeof name, "%s/shared_%d", settings->dir, iteration) >= (int)sizeof name) {
    fail("--dir", "too long");
  }
  check(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file), "MPI_File_open");
  check(MPI_File_write_at_all(file, offset, block, settings->bytes, MPI_BYTE, MPI_STATUS_IGNORE),
        "MPI_File_write_at_all");
  check(MPI_File_sync(file), "MPI_File_sync");
  check(MPI_File_close(&file), "MPI_File_close");
}

static result work(const settings* settings, int rank, double* times) {
  const computation compute = load(settings);
  char* const block = malloc((size_t)settings->bytes);
  result found = {0, 0, 0, 0};
  if (block == NULL) fail("memory for a block", "there is not enough");
  for (int i = 0; i < settings->bytes; ++i) block[i] = (char)(i % 251 + rank);
  MPI_Barrier(MPI_COMM_WORLD);
  found.started = now();
  for (int iteration = 0; iteration < settings->iterations; ++iteration) {
    const double before = now();
    compute.run(compute.kernel, settings->passes);
    memcpy(block, &iteration, sizeof iteration);
    found.computed += now() - before;
    MPI_Barrier(MPI_COMM_WORLD);
    times[2 * iteration] = now();
    put(settings, rank, iteration, block);
    times[2 * iteration + 1] = now();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  found.left = found.done = now();
  free(block);
  return found;
}

static void print_times(const char* key, const double* times, int iterations, int which) {
  printf(", \"%s\": [", key);
  for (int i = 0; i < iterations; ++i) printf("%s%.9f", i > 0 ? ", " : "", times[2 * i + which]);
  printf("]");
}

/* The first words of the library's own version. */
static void print_version(void) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  version[strcspn(version, ",\n")] = 0;
  for (char* at = version; *at != 0; ++at) {
    if (*at == '"' || *at == '\\' || *at == '\t') *at = ' ';
  }
  printf(" \"description\": \"%s, MPI_File_write_at_all of one file, MPI_File_sync\",\n", version);
}

static void print(const settings* settings, int count, const result* results, const double* times) {
  printf("{\n \"core_run\": 1,\n \"way\": \"collective\",\n \"compress\": \"none\",\n \"iterations\": %d,\n",
         settings->iterations);
  printf(" \"bytes\": %d,\n", settings->bytes);
  print_version();
  printf(" \"processes\": [");
  for (int process = 0; process < count; ++process) {
    const double* const own = times + 2 * (size_t)settings->iterations * (size_t)process;
    printf("%s\n  {\"started\": %.9f, \"computed\": %.9f, \"left\": %.9f, \"done\": %.9f", process > 0 ? "," : "",
           results[process].started, results[process].computed, results[process].left, results[process].done);
    print_times("begin", own, settings->iterations, 0);
    print_times("end", own, settings->iterations, 1);
    printf("}");
  }
  printf("]\n}\n");
}

int main(int argc, char** argv) {
  int rank = 0;
  int count = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  const settings settings = parse(argc, argv);
  const size_t own = 2 * (size_t)settings.iterations;
  double* const times = calloc(own, sizeof(double));
  double* const all = calloc(own * (size_t)count, sizeof(double));
  result* const results = calloc((size_t)count, sizeof(result));
  if (times == NULL || all == NULL || results == NULL) fail("memory for the times", "there is not enough");
  const result found = work(&settings, rank, times);
  MPI_Gather(times, (int)own, MPI_DOUBLE, all, (int)own, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Gather(&found, 4, MPI_DOUBLE, results, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0) print(&settings, count, results, all);
  free(times);
  free(all);
  free(results);
  MPI_Finalize();
  return 0;
}
