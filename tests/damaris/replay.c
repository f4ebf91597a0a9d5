/* A program for Damaris that carries out the calls of a script, one a line; each client has its own:
 * DIR/calls.<rank>. It writes the code of each call to DIR/codes.<rank>. Arrays count up from a first value: first,
 * first + 1, … A call that begins with `retry` is made again while the channel refuses it. Each rank makes a file
 * DIR/ended.<rank among all> after damaris_finalize. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "Damaris.h"

enum { MOST_ALLOCATED = 64, MOST_RETRIES = 50 };

typedef struct {
  char variable[256];
  int block;
  void* memory;
} allocated_t;

static allocated_t allocated[MOST_ALLOCATED];

static size_t size_of(char type) {
  switch (type) {
    case 'c': return sizeof(char);
    case 's': return sizeof(short);
    case 'i': return sizeof(int);
    case 'l': return sizeof(long);
    case 'f': return sizeof(float);
    default: return sizeof(double);
  }
}

static void fill(void* to, char type, long count, long first) {
  for (long i = 0; i < count; ++i) {
    switch (type) {
      case 'c': ((char*)to)[i] = (char)(first + i); break;
      case 's': ((short*)to)[i] = (short)(first + i); break;
      case 'i': ((int*)to)[i] = (int)(first + i); break;
      case 'l': ((long*)to)[i] = first + i; break;
      case 'f': ((float*)to)[i] = (float)(first + i); break;
      default: ((double*)to)[i] = (double)(first + i);
    }
  }
}

static int write_array(const char* variable, int block, char type, long count, long first) {
  void* data = malloc(size_of(type) * (size_t)count + 1);
  fill(data, type, count, first);
  const int code = block == 0 ? damaris_write(variable, data) : damaris_write_block(variable, block, data);
  memset(data, 0x5a, size_of(type) * (size_t)count); /* the call has copied it */
  free(data);
  return code;
}

/* Writes an array behind which there is no memory. */
static int write_at_edge(const char* variable, int block, char type, long count, long first) {
  const size_t hole = (size_t)64 << 20; /* so large that the next mapping of others does not end at the array */
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t bytes = size_of(type) * (size_t)count;
  const size_t whole = (bytes + page - 1) / page * page;
  char* memory = mmap(NULL, whole + hole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || munmap(memory + whole, hole) != 0) return -1;
  fill(memory + whole - bytes, type, count, first);
  const int code = damaris_write_block(variable, block, memory + whole - bytes);
  munmap(memory, whole);
  return code;
}

static int allocate(const char* variable, int block, char type, long count, long first) {
  void* memory = NULL;
  const int code = block == 0 ? damaris_alloc(variable, &memory) : damaris_alloc_block(variable, block, &memory);
  if (memory != NULL) fill(memory, type, count, first);
  for (int i = 0; memory != NULL && i < MOST_ALLOCATED; ++i) {
    if (allocated[i].memory != NULL && strcmp(allocated[i].variable, variable) != 0) continue;
    if (allocated[i].memory != NULL && allocated[i].block != block) continue;
    snprintf(allocated[i].variable, sizeof allocated[i].variable, "%s", variable);
    allocated[i].block = block;
    allocated[i].memory = memory;
    break;
  }
  return code;
}

/* Returns whether the memory of the last alloc still has its first value, as a double: 0 or 1. */
static int has_first(const char* variable, int block, double first) {
  for (int i = 0; i < MOST_ALLOCATED; ++i) {
    if (allocated[i].memory == NULL || allocated[i].block != block) continue;
    if (strcmp(allocated[i].variable, variable) == 0) return *(double*)allocated[i].memory == first;
  }
  return -1;
}

static int move_block(const char* variable, int block, const char* list) {
  int64_t position[8] = {0};
  int count = 0;
  char copy[256];
  snprintf(copy, sizeof copy, "%s", list);
  for (char* word = strtok(copy, ","); word != NULL && count < 8; word = strtok(NULL, ",")) {
    position[count++] = atoll(word);
  }
  return block == 0 ? damaris_set_position(variable, position)
                    : damaris_set_block_position(variable, block, position);
}

static int set_parameter(const char* name, char type, const char* text) {
  if (type == 'd') {
    double value = atof(text);
    return damaris_parameter_set(name, &value, sizeof value);
  }
  if (type == 'l') {
    long value = atol(text);
    return damaris_parameter_set(name, &value, sizeof value);
  }
  int value = atoi(text);
  return damaris_parameter_set(name, &value, sizeof value);
}

static int carry_out(const char* line, MPI_Comm comm) {
  char verb[32] = "", name[256] = "", text[256] = "", type = 'd';
  int block = 0, iteration = 0;
  long count = 0, first = 0;
  sscanf(line, "%31s", verb);
  if (strcmp(verb, "retry") == 0) {
    int code = DAMARIS_CHANNEL_ERROR;
    for (int i = 0; i < MOST_RETRIES && code == DAMARIS_CHANNEL_ERROR; ++i) {
      code = carry_out(line + strlen("retry "), comm);
    }
    return code;
  }
  if (strcmp(verb, "edge") == 0 && sscanf(line, "%*s %255s %d %c %ld %ld", name, &block, &type, &count, &first) == 5)
    return write_at_edge(name, block, type, count, first);
  if (strcmp(verb, "write") == 0 && sscanf(line, "%*s %255s %d %c %ld %ld", name, &block, &type, &count, &first) == 5)
    return write_array(name, block, type, count, first);
  if (strcmp(verb, "alloc") == 0 && sscanf(line, "%*s %255s %d %c %ld %ld", name, &block, &type, &count, &first) == 5)
    return allocate(name, block, type, count, first);
  if (strcmp(verb, "has") == 0 && sscanf(line, "%*s %255s %d %ld", name, &block, &first) == 3)
    return has_first(name, block, (double)first);
  if (strcmp(verb, "commit") == 0 && sscanf(line, "%*s %255s %d", name, &block) == 2)
    return block == 0 ? damaris_commit(name) : damaris_commit_block(name, block);
  if (strcmp(verb, "commit_at") == 0 && sscanf(line, "%*s %255s %d %d", name, &block, &iteration) == 3)
    return block == 0 ? damaris_commit_iteration(name, iteration)
                      : damaris_commit_block_iteration(name, block, iteration);
  if (strcmp(verb, "clear") == 0 && sscanf(line, "%*s %255s %d", name, &block) == 2)
    return block == 0 ? damaris_clear(name) : damaris_clear_block(name, block);
  if (strcmp(verb, "clear_at") == 0 && sscanf(line, "%*s %255s %d %d", name, &block, &iteration) == 3)
    return block == 0 ? damaris_clear_iteration(name, iteration)
                      : damaris_clear_block_iteration(name, block, iteration);
  if (strcmp(verb, "move") == 0 && sscanf(line, "%*s %255s %d %255s", name, &block, text) == 3)
    return move_block(name, block, text);
  if (strcmp(verb, "set") == 0 && sscanf(line, "%*s %255s %c %255s", name, &type, text) == 3)
    return set_parameter(name, type, text);
  if (strcmp(verb, "get") == 0 && sscanf(line, "%*s %255s", name) == 1) {
    int value = -1;
    const int code = damaris_parameter_get(name, &value, sizeof value);
    return code == DAMARIS_OK ? 1000 + value : code;
  }
  if (strcmp(verb, "iteration") == 0) {
    int value = -1;
    const int code = damaris_get_iteration(&value);
    return code == DAMARIS_OK ? 1000 + value : code;
  }
  if (strcmp(verb, "signal") == 0 && sscanf(line, "%*s %255s", name) == 1) return damaris_signal(name);
  if (strcmp(verb, "plugin") == 0 && sscanf(line, "%*s %d", &block) == 1)
    return damaris_has_plugin((DAMARIS_PLUGIN_TYPE)block);
  if (strcmp(verb, "barrier") == 0) return MPI_Barrier(comm);
  if (strcmp(verb, "end") == 0) return damaris_end_iteration();
  if (strcmp(verb, "die") == 0) return kill(getpid(), SIGKILL);
  if (strcmp(verb, "wait") == 0 && sscanf(line, "%*s %255s", name) == 1) { /* for a file that the test makes */
    while (access(name, F_OK) != 0) usleep(10000);
    return 0;
  }
  return -1;
}

static void replay(const char* directory) {
  char path[1024], line[1024];
  int rank = 0;
  MPI_Comm comm;
  damaris_client_comm_get(&comm);
  MPI_Comm_rank(comm, &rank);
  snprintf(path, sizeof path, "%s/calls.%d", directory, rank);
  FILE* calls = fopen(path, "r");
  snprintf(path, sizeof path, "%s/codes.%d", directory, rank);
  FILE* codes = fopen(path, "w");
  while (calls != NULL && fgets(line, sizeof line, calls) != NULL) {
    fprintf(codes, "%d\n", carry_out(line, comm));
    fflush(codes);
  }
  if (calls != NULL) fclose(calls);
  fprintf(codes, "%d\n", damaris_stop());
  fclose(codes);
}

/* Sets parameters before the start: those of the lines "set …" in before.N, N being the rank. */
static void prepare(const char* directory) {
  char path[1024], line[1024];
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(path, sizeof path, "%s/before.%d", directory, rank);
  FILE* calls = fopen(path, "r");
  while (calls != NULL && fgets(line, sizeof line, calls) != NULL) carry_out(line, MPI_COMM_NULL);
  if (calls != NULL) fclose(calls);
}

static void bound(const char* event, int32_t source, int32_t iteration, const char* arguments) {
  const char* path = getenv("REPLAY_EVENTS");
  FILE* to = path == NULL ? NULL : fopen(path, "a");
  if (to == NULL) return;
  fprintf(to, "bound %s %d %d '%s'\n", event, (int)source, (int)iteration, arguments);
  fclose(to);
}

static void leave_a_mark(const char* directory, int rank) {
  char path[1024];
  snprintf(path, sizeof path, "%s/ended.%d", directory, rank);
  FILE* to = fopen(path, "w");
  if (to != NULL) fclose(to);
}

int main(int argc, char** argv) {
  int is_client = 0;
  MPI_Init(&argc, &argv);
  int code = damaris_initialize(argv[1], MPI_COMM_WORLD);
  if (code == DAMARIS_OK) code = damaris_bind("bound", bound);
  if (code == DAMARIS_OK) prepare(argv[2]);
  if (code == DAMARIS_OK) code = damaris_start(&is_client);
  const int started = code;
  if ((code == DAMARIS_OK || code == DAMARIS_NO_SERVER) && is_client) replay(argv[2]);
  const int ended = damaris_finalize();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  leave_a_mark(argv[2], rank);
  if (rank == 0) printf("start %d finalize %d\n", started, ended);
  MPI_Finalize();
  return 0;
}
