/* peer.c: see peer.h. */
#define _GNU_SOURCE
#include "peer.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { kStamps = 64 }; /* places where a block is marked; the pattern program does the same */
enum { kFillValues = 251 };
enum { kLeastBytes = 24 * kStamps };
enum { kWarmUpPasses = 1000 }; /* at most; not timed */
static const uint64_t kHuge = 2u << 20;

typedef struct computation {
  void* (*make)(const char* kernel, int threads, const char* memory);
  void (*run)(void* kernel, uint64_t passes);
  double (*result)(void* kernel);
  void (*end)(void* kernel);
  void* kernel;
} computation;

typedef struct times {
  double total;
  double* computing;
  double* waiting;
  double* results; /* of the computation, each iteration */
} times;

_Noreturn void peer_fail(const char* what, const char* why) {
  fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, why);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* A line of /proc/self/status, in bytes. */
static uint64_t memory(const char* key) {
  char line[256];
  unsigned long long kib = 0;
  FILE* status = fopen("/proc/self/status", "r");
  if (status == NULL) return 0;
  while (fgets(line, sizeof line, status) != NULL) {
    if (strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), ":%llu", &kib) == 1) break;
  }
  fclose(status);
  return 1024 * kib;
}

static void fill(char* block, uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; ++i) block[i] = (char)(i % kFillValues);
}

static void stamp(char* block, uint64_t bytes, int iteration, double result) {
  const struct {
    int64_t iteration;
    int64_t variable;
    double result;
  } mark = {iteration, 0, result};
  for (uint64_t i = 0; i + 1 < kStamps; ++i) memcpy(block + bytes / kStamps * i, &mark, sizeof mark);
  memcpy(block + bytes - sizeof mark, &mark, sizeof mark);
}

/* FNV-1a over the results' bytes, as the pattern program has it. */
static uint64_t hash_of(const double* results, int count) {
  uint64_t value = 0xcbf29ce484222325;
  for (int i = 0; i < count; ++i) {
    uint64_t bits;
    memcpy(&bits, &results[i], sizeof bits);
    for (int byte = 0; byte < 8; ++byte) value = (value ^ (bits >> (8 * byte) & 0xff)) * 0x100000001b3;
  }
  return value;
}

char* peer_buffer(uint64_t bytes) {
  const uint64_t size = (bytes + kHuge - 1) / kHuge * kHuge;
  char* const buffer = aligned_alloc(kHuge, size);
  if (buffer == NULL) peer_fail("memory for a block", strerror(errno));
  madvise(buffer, size, MADV_HUGEPAGE);
  fill(buffer, bytes);
  return buffer;
}

static computation load(const peer_settings* settings) {
  computation it;
  void* const library = dlopen(settings->library, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) peer_fail("--library", dlerror());
  *(void**)&it.make = dlsym(library, "pattern_compute_new");
  *(void**)&it.run = dlsym(library, "pattern_compute_run");
  *(void**)&it.result = dlsym(library, "pattern_compute_result");
  *(void**)&it.end = dlsym(library, "pattern_compute_free");
  if (!it.make || !it.run || !it.result || !it.end) peer_fail(settings->library, "not the pattern's library");
  it.kernel = it.make(settings->compute, settings->threads, settings->memory);
  if (it.kernel == NULL) peer_fail(settings->compute, "the pattern's library has no such kernel");
  return it;
}

static void sync_file(const char* file) {
  const int fd = open(file, O_RDWR);
  if (fd < 0 || fdatasync(fd) != 0 || close(fd) != 0) peer_fail(file, strerror(errno));
}

static times run(const peer_settings* settings, const peer_writer* writer, const char* file) {
  const size_t n = (size_t)settings->iterations;
  times it = {0, calloc(n, sizeof(double)), calloc(n, sizeof(double)), calloc(n, sizeof(double))};
  computation compute = load(settings);
  if (it.computing == NULL || it.waiting == NULL || it.results == NULL) peer_fail("memory", strerror(errno));
  writer->open(settings, file);
  compute.run(compute.kernel, settings->passes < kWarmUpPasses ? settings->passes : kWarmUpPasses);
  const double start = now();
  for (int i = 0; i < settings->iterations; ++i) {
    const double before = now();
    char* const block = writer->block(i);
    const double given = now();
    compute.run(compute.kernel, settings->passes);
    it.results[i] = compute.result(compute.kernel);
    stamp(block, settings->bytes, i, it.results[i]);
    const double computed = now();
    writer->put(i);
    it.computing[i] = computed - given;
    it.waiting[i] = now() - computed + given - before;
  }
  const double before = now();
  writer->finish();
  sync_file(file);
  const double end = now();
  compute.end(compute.kernel);
  it.waiting[n - 1] += end - before;
  it.total = end - start;
  return it;
}

/* Fails unless every byte of every iteration is in the file, and nothing more. */
static void verify(const peer_settings* settings, const char* file, const double* results) {
  char* const expected = peer_buffer(settings->bytes);
  char* const found = peer_buffer(settings->bytes);
  FILE* const stream = fopen(file, "rb");
  if (stream == NULL) peer_fail(file, strerror(errno));
  for (int i = 0; i < settings->iterations; ++i) {
    stamp(expected, settings->bytes, i, results[i]);
    memset(found, 0, settings->bytes);
    if (fread(found, 1, settings->bytes, stream) != settings->bytes) peer_fail(file, "is too short");
    if (memcmp(found, expected, settings->bytes) != 0) peer_fail(file, "has wrong bytes");
  }
  if (fgetc(stream) != EOF) peer_fail(file, "is too long");
  fclose(stream);
  free(expected);
  free(found);
}

static double print_each(const char* name, const double* values, int count) {
  double sum = 0;
  printf("\"%s_each\": [", name);
  for (int i = 0; i < count; ++i) {
    printf("%s%.9f", i == 0 ? "" : ", ", values[i]);
    sum += values[i];
  }
  printf("], \"%s\": %.9f, ", name, sum);
  return sum;
}

static void print(const peer_settings* s, const peer_writer* writer, const times* it, uint64_t before,
                  uint64_t peak) {
  printf("{\"pattern_run\": 1, \"writer\": \"%s\", \"switches\": {}, \"page_cache\": \"%s\", ", writer->name,
         writer->page_cache);
  printf("\"compute\": \"%s\", \"passes\": %llu, \"threads\": %d, \"memory\": \"%s\", ", s->compute,
         (unsigned long long)s->passes, s->threads, s->memory);
  printf("\"iterations\": %d, \"bytes\": %llu, \"variables\": 1, \"devices\": 1, ", s->iterations,
         (unsigned long long)s->bytes);
  printf("\"seconds_total\": %.9f, ", it->total);
  print_each("seconds_computing", it->computing, s->iterations);
  print_each("seconds_waiting", it->waiting, s->iterations);
  printf("\"per_variable\": [], \"peak_memory_bytes\": %llu, \"buffer_bytes\": %llu, \"budget_bytes\": 0, ",
         (unsigned long long)peak, (unsigned long long)(writer->buffers * s->bytes));
  printf("\"runtime_memory_bytes\": %llu, \"result_hash\": \"%016llx\", ", (unsigned long long)before,
         (unsigned long long)hash_of(it->results, s->iterations));
  printf("\"cache_misses\": null, \"cache_misses_not_available\": \"not counted for peers\", ");
  printf("\"verified\": %s, \"description\": \"%s\"}\n", s->verify ? "true" : "false", writer->describe());
}

static uint64_t number(const char* option, const char* text, uint64_t least, uint64_t most) {
  char* end = NULL;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 10);
  if (text[0] < '0' || text[0] > '9' || *end != 0 || errno != 0 || value < least || value > most) {
    fprintf(stderr, "%s: --%s: found %s, expected %llu to %llu\n", program_invocation_short_name, option, text,
            (unsigned long long)least, (unsigned long long)most);
    exit(2);
  }
  return value;
}

static peer_settings parse(int argc, char** argv) {
  static const struct option options[] = {
      {"library", 1, NULL, 'l'},   {"compute", 1, NULL, 'c'},    {"passes", 1, NULL, 'p'}, {"threads", 1, NULL, 't'},
      {"memory", 1, NULL, 'm'},    {"iterations", 1, NULL, 'i'}, {"bytes", 1, NULL, 'b'},  {"dir", 1, NULL, 'd'},
      {"variables", 1, NULL, 'v'}, {"keep", 0, NULL, 'k'},       {"verify", 0, NULL, 'y'}, {NULL, 0, NULL, 0}};
  peer_settings s = {
      .compute = "busy", .memory = "heap", .passes = 1000, .bytes = 1 << 20, .threads = 1, .iterations = 4};
  int option;
  while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
    switch (option) {
      case 'l': s.library = optarg; break;
      case 'c': s.compute = optarg; break;
      case 'm': s.memory = optarg; break;
      case 'd': s.dir = optarg; break;
      case 'p': s.passes = number("passes", optarg, 1, UINT64_MAX); break;
      case 't': s.threads = (int)number("threads", optarg, 1, 1024); break;
      case 'i': s.iterations = (int)number("iterations", optarg, 1, 1000000); break;
      case 'b': s.bytes = number("bytes", optarg, kLeastBytes, INT32_MAX); break;
      case 'v': number("variables", optarg, 1, 1); break;
      case 'k': s.keep = 1; break;
      case 'y': s.verify = 1; break;
      default: exit(2);
    }
  }
  if (s.library == NULL || s.dir == NULL || optind != argc) {
    fprintf(stderr, "%s: expected --library FILE, --dir DIR and options\n", program_invocation_short_name);
    exit(2);
  }
  return s;
}

int peer_main(int argc, char** argv, const peer_writer* writer) {
  const peer_settings settings = parse(argc, argv);
  char file[4096];
  if (snprintf(file, sizeof file, "%s/peer.dat", settings.dir) >= (int)sizeof file) peer_fail("--dir", "is too long");
  if (mkdir(settings.dir, 0777) != 0 && errno != EEXIST) peer_fail(settings.dir, strerror(errno));
  if (unlink(file) != 0 && errno != ENOENT) peer_fail(file, strerror(errno));
  sync(); /* so that no earlier file's blocks are freed in this run's time */
  const uint64_t before = memory("VmRSS");
  const times it = run(&settings, writer, file);
  const uint64_t peak = memory("VmHWM");
  if (settings.verify) verify(&settings, file, it.results);
  if (!settings.keep) unlink(file);
  print(&settings, writer, &it, before, peak);
  return 0;
}
