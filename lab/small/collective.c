/* collective.c: the same patterns by MPI_File_write_at_all, for `tailrace bench small`.
 *
 * The mpicc of the compared MPI compiles it, so it knows nothing of tailrace. Each rank has the pieces of every n-th
 * client, as one file view, and writes them by as few collective calls as the pattern has: all at once or, as
 * Flash-I/O does, one variable after the other. Its bytes are in memory in the order of the file. It makes the view
 * and opens the file before the clock starts; the first rank syncs the file at the end, as in all other ways. A
 * process that cannot continue says why and aborts the job.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "access_pattern.h"
#include "program_data.h"

typedef struct settings {
  char file[4096];
  access_pattern pattern;
} settings;

/* A piece of one of the rank's clients. */
typedef struct piece {
  uint64_t offset;
  int client; /* among the rank's own: 0, 1, … */
  uint64_t index;
} piece;

/* What a rank has to write. */
typedef struct part {
  int clients;
  char** memory; /* of each */
  uint64_t pieces;
  piece* list;  /* in order of offset, so one call after the other */
  char* packed; /* the bytes of them all, in this order; Flash-I/O: of one call, packed when it comes */
} part;

/* Of one rank; gathered by the first as they are: doubles alone. */
typedef struct result {
  double started, written, synced, calls, bytes;
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

static void* memory_of(uint64_t bytes) {
  void* const memory = malloc(bytes > 0 ? bytes : 1);
  if (memory == NULL) fail("memory", "there is not enough");
  return memory;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static settings parse(int argc, char** argv) {
  static const struct option options[] = {
      {"dir", 1, NULL, 'd'},   {"pattern", 1, NULL, 'p'},  {"clients", 1, NULL, 'c'}, {"bytes", 1, NULL, 'b'},
      {"piece", 1, NULL, 'l'}, {"by-block", 0, NULL, 'k'}, {NULL, 0, NULL, 0}};
  settings found;
  access_request request = {"rows", 64, (uint64_t)64 << 20, 4096, 1, 0};
  const char* dir = NULL;
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (option == 'd') dir = optarg;
    if (option == 'p') request.kind = optarg;
    if (option == 'c') request.clients = atoi(optarg);
    if (option == 'b') request.bytes = strtoull(optarg, NULL, 10);
    if (option == 'l') request.piece = strtoull(optarg, NULL, 10);
    if (option == 'k') request.by_block = 1;
    if (option == '?') fail("the command line", "an unknown option");
  }
  if (dir == NULL) fail("the command line", "--dir is needed");
  if (snprintf(found.file, sizeof found.file, "%s/small.raw", dir) >= (int)sizeof found.file)
    fail("--dir", "too long");
  const char* const wrong = access_pattern_make(&found.pattern, &request);
  if (wrong != NULL) fail(request.kind, wrong);
  if (found.pattern.kind == ACCESS_OVERLAP || found.pattern.kind == ACCESS_BEHIND) {
    fail(request.kind, "is no pattern of collective writes");
  }
  return found;
}

static int by_offset(const void* a, const void* b) {
  const uint64_t one = ((const piece*)a)->offset;
  const uint64_t other = ((const piece*)b)->offset;
  return one < other ? -1 : one > other;
}

/* Copies or packs the bytes of `count` pieces from `first` on. */
static void pack(const access_pattern* pattern, const part* of, uint64_t first, uint64_t count, char* to) {
  for (const piece* one = of->list + first; one < of->list + first + count; ++one, to += pattern->length) {
    const char* const bytes = program_data_of(pattern, one->index, 1, of->memory[one->client], to);
    if (bytes != to) memcpy(to, bytes, pattern->length);
  }
}

static part make_part(const access_pattern* pattern, int rank, int ranks) {
  part it = {0, NULL, 0, NULL, NULL};
  it.clients = (pattern->clients - rank + ranks - 1) / ranks;
  it.memory = memory_of((uint64_t)it.clients * sizeof *it.memory);
  it.list = memory_of((uint64_t)it.clients * pattern->pieces * sizeof *it.list);
  for (int own = 0; own < it.clients; ++own) {
    const int client = rank + own * ranks;
    it.memory[own] = memory_of(program_data_bytes(pattern));
    program_data_fill(pattern, client, it.memory[own]);
    for (uint64_t index = 0; index < pattern->pieces; ++index) {
      it.list[it.pieces++] = (piece){access_pattern_offset(pattern, client, index), own, index};
    }
  }
  qsort(it.list, it.pieces, sizeof *it.list, by_offset);
  const int flash = access_pattern_is_flash(pattern);
  it.packed = memory_of(it.pieces * pattern->length / (flash ? pattern->calls : 1));
  memset(it.packed, 0, it.pieces * pattern->length / (flash ? pattern->calls : 1)); /* touched */
  if (!flash) pack(pattern, &it, 0, it.pieces, it.packed);
  return it;
}

static MPI_File open_with_view(const settings* settings, const part* of) {
  MPI_File file;
  MPI_Datatype view;
  MPI_Aint* const displacements = memory_of(of->pieces * sizeof *displacements);
  for (uint64_t i = 0; i < of->pieces; ++i) displacements[i] = (MPI_Aint)of->list[i].offset;
  check(
      MPI_Type_create_hindexed_block((int)of->pieces, (int)settings->pattern.length, displacements, MPI_BYTE, &view),
      "MPI_Type_create_hindexed_block");
  check(MPI_Type_commit(&view), "MPI_Type_commit");
  check(MPI_File_open(MPI_COMM_WORLD, settings->file, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file),
        "MPI_File_open");
  check(MPI_File_set_view(file, 0, MPI_BYTE, view, "native", MPI_INFO_NULL), "MPI_File_set_view");
  check(MPI_Type_free(&view), "MPI_Type_free");
  free(displacements);
  return file;
}

/* Write calls of this process so far, and their bytes, as the system counts them; 0 where it does not. */
static void count_writes(double* calls, double* bytes) {
  char line[128];
  FILE* const counts = fopen("/proc/self/io", "r");
  *calls = *bytes = 0;
  while (counts != NULL && fgets(line, sizeof line, counts) != NULL) {
    if (strncmp(line, "syscw:", 6) == 0) *calls = atof(line + 6);
    if (strncmp(line, "wchar:", 6) == 0) *bytes = atof(line + 6);
  }
  if (counts != NULL) fclose(counts);
}

static void sync_file(const char* name) {
  const int file = open(name, O_RDWR | O_CLOEXEC);
  if (file < 0 || fdatasync(file) != 0 || close(file) != 0) fail(name, strerror(errno));
}

static result work(const settings* settings, int rank, int ranks) {
  const access_pattern* const pattern = &settings->pattern;
  const part it = make_part(pattern, rank, ranks);
  MPI_File file = open_with_view(settings, &it);
  const uint64_t each = it.pieces / pattern->calls;
  const int flash = access_pattern_is_flash(pattern);
  result found = {0, 0, 0, 0, 0};
  double calls = 0;
  double bytes = 0;
  count_writes(&calls, &bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  found.started = now();
  for (uint64_t call = 0; call < pattern->calls; ++call) {
    if (flash) pack(pattern, &it, call * each, each, it.packed);
    check(MPI_File_write_at_all(file, (MPI_Offset)(call * each * pattern->length), it.packed,
                                (int)(each * pattern->length), MPI_BYTE, MPI_STATUS_IGNORE),
          "MPI_File_write_at_all");
  }
  found.written = now();
  count_writes(&found.calls, &found.bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) sync_file(settings->file);
  found.synced = now();
  found.calls -= calls;
  found.bytes -= bytes;
  check(MPI_File_close(&file), "MPI_File_close");
  return found;
}

/* The first words of the library's own version, in which MPICH has runs of blanks. */
static void print_version(int ranks) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  version[strcspn(version, ",\n")] = 0;
  char* to = version;
  for (const char* at = version; *at != 0; ++at) {
    const char c = *at == '"' || *at == '\\' || *at == '\t' ? ' ' : *at;
    if (c != ' ' || (to > version && to[-1] != ' ')) *to++ = c;
  }
  *to = 0;
  printf(" \"description\": \"%s, MPI_File_write_at_all, ranks: %d, fdatasync\"\n", version, ranks);
}

static void print(const settings* settings, int ranks, const result* results) {
  const access_pattern* const pattern = &settings->pattern;
  double begin = results[0].started;
  double written = 0;
  double synced = 0;
  double calls = 0;
  double bytes = 0;
  for (const result* one = results; one < results + ranks; ++one) {
    begin = one->started < begin ? one->started : begin;
    written = one->written > written ? one->written : written;
    synced = one->synced > synced ? one->synced : synced;
    calls += one->calls;
    bytes += one->bytes;
  }
  const int64_t wrong = program_data_wrong(pattern, settings->file);
  if (wrong < 0) fail(settings->file, strerror(errno));
  printf("{\n \"small_run\": 1,\n \"way\": \"collective\",\n \"clients\": %d,\n \"ranks\": %d,\n", pattern->clients,
         ranks);
  printf(" \"pieces\": %llu,\n \"piece_bytes\": %llu,\n \"file_bytes\": %llu,\n",
         (unsigned long long)(pattern->pieces * (uint64_t)pattern->clients), (unsigned long long)pattern->length,
         (unsigned long long)pattern->bytes);
  printf(" \"handed\": %.9f,\n \"written\": %.9f,\n \"synced\": %.9f,\n", written - begin, written - begin,
         synced - begin);
  printf(" \"transfers\": %.0f,\n \"transferred\": %.0f,\n \"wrong_bytes\": %lld,\n", calls, bytes, (long long)wrong);
  print_version(ranks);
  printf("}\n");
}

int main(int argc, char** argv) {
  int rank = 0;
  int ranks = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const settings settings = parse(argc, argv);
  if (settings.pattern.clients < ranks) fail("--clients", "there are more ranks than clients");
  result* const results = memory_of((uint64_t)ranks * sizeof *results);
  const result found = work(&settings, rank, ranks);
  MPI_Gather(&found, 5, MPI_DOUBLE, results, 5, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0) print(&settings, ranks, results);
  free(results);
  MPI_Finalize();
  return 0;
}
