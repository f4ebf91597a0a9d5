/* tailrace_mpi.h: for MPI programs in C that give ranks to place `core`. Header-only; tailrace itself needs no MPI.
 * It has what tailrace_mpi.hpp has for C++.
 *
 *   MPI_Comm computing;
 *   tailrace_client* out;
 *   if (tailrace_mpi_split(MPI_COMM_WORLD, "sim.yaml", NULL, &computing) != TAILRACE_OK) …
 *   if (computing != MPI_COMM_NULL) {                          // else this rank was a server
 *     if (tailrace_mpi_open(computing, "sim.yaml", NULL, &out) != TAILRACE_OK) …   // client = rank
 *     …
 *     tailrace_close(out);
 *     MPI_Comm_free(&computing);
 *   }
 *
 * Both calls are collective over their communicator. Later calls are not: a client never communicates by MPI.
 * Programs that leave a core to the server by `mpirun -n` only need tailrace_open.
 */
#ifndef TAILRACE_TAILRACE_MPI_H
#define TAILRACE_TAILRACE_MPI_H

/* Skips MPI's deprecated C++ bindings, unless the program has requested them. */
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#include <errno.h>
#include <mpi.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <tailrace/tailrace.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options of tailrace_mpi_split. Zero (NULL) selects the default. The first three are as in tailrace_open_options:
 * the servers need them, too. */
typedef struct tailrace_mpi_options {
  const char* path;
  const tailrace_parameter* parameters;
  size_t parameter_count;
  int cores;           /* ranks of each node that become servers: `place.cores` of the configuration; by default 1 */
  const char* program; /* the path of tailrace-core, if it is not beside the library or on PATH */
  double wait;         /* seconds, by default 600; a server to which no client comes ends after this time */
} tailrace_mpi_options;

/* The numbers of a rank that computes, in the job and on its node. The configuration may name them as parameters. */
typedef struct tailrace_mpi_where {
  int rank;
  int size;
  int local_rank;
  int local_size;
  int node;
  int nodes;
} tailrace_mpi_where;

enum { TAILRACE_MPI_WHERE_COUNT = 6, TAILRACE_MPI_ANNOUNCE = 3, TAILRACE_MPI_TEXT = 1024 };

/* Returns why the last tailrace_mpi_split or _locate of this source file failed; it holds at most one line. */
static inline char* tailrace_mpi_message(void) {
  static char text[TAILRACE_MPI_TEXT];
  return text;
}

/* ---- details ------------------------------------------------------------------------------------------ */

static inline tailrace_status tailrace_mpi_failed(const char* call) {
  snprintf(tailrace_mpi_message(), TAILRACE_MPI_TEXT, "tailrace_mpi: %s failed", call);
  return TAILRACE_INTERNAL;
}

/* Returns the ranks of `comm` on this node, in the same order, and their numbers. The caller frees the
 * communicator. */
static inline tailrace_status tailrace_mpi_node(MPI_Comm comm, MPI_Comm* node, tailrace_mpi_where* where) {
  memset(where, 0, sizeof *where);
  *node = MPI_COMM_NULL;
  if (MPI_Comm_rank(comm, &where->rank) != MPI_SUCCESS || MPI_Comm_size(comm, &where->size) != MPI_SUCCESS) {
    return tailrace_mpi_failed("MPI_Comm_rank");
  }
  if (MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, where->rank, MPI_INFO_NULL, node) != MPI_SUCCESS) {
    return tailrace_mpi_failed("MPI_Comm_split_type");
  }
  MPI_Comm_rank(*node, &where->local_rank);
  MPI_Comm_size(*node, &where->local_size);
  {
    const int first = where->local_rank == 0 ? 1 : 0;
    int number = 0;
    if (MPI_Exscan(&first, &number, 1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS)
      return tailrace_mpi_failed("MPI_Exscan");
    if (where->rank == 0) number = 0; /* MPI leaves it undefined there */
    if (MPI_Bcast(&number, 1, MPI_INT, 0, *node) != MPI_SUCCESS) return tailrace_mpi_failed("MPI_Bcast");
    where->node = number;
    if (MPI_Allreduce(&first, &where->nodes, 1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS) {
      return tailrace_mpi_failed("MPI_Allreduce");
    }
  }
  return TAILRACE_OK;
}

/* Writes the numbers as parameters of their names. */
static inline void tailrace_mpi_parameters(const tailrace_mpi_where* where, tailrace_parameter* out) {
  static const char* const names[TAILRACE_MPI_WHERE_COUNT] = {"rank",       "size", "local_rank",
                                                              "local_size", "node", "nodes"};
  int values[TAILRACE_MPI_WHERE_COUNT];
  int i;
  values[0] = where->rank;
  values[1] = where->size;
  values[2] = where->local_rank;
  values[3] = where->local_size;
  values[4] = where->node;
  values[5] = where->nodes;
  for (i = 0; i < TAILRACE_MPI_WHERE_COUNT; ++i) {
    out[i].name = names[i];
    out[i].value = values[i];
  }
}

/* Finds the program in the places where the library looks, beside the library's file; else its name, for PATH. */
static inline void tailrace_mpi_program(const tailrace_mpi_options* options, char* out, size_t size) {
  static const char* const places[] = {"", "../bin/", "../libexec/tailrace/"};
  const char* named = options->program != NULL ? options->program : getenv("TAILRACE_SERVER");
  char line[TAILRACE_MPI_TEXT];
  FILE* maps;
  snprintf(out, size, "%s", named != NULL && *named != '\0' ? named : "tailrace-core");
  if (named != NULL && *named != '\0') return;
  maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) return;
  while (fgets(line, sizeof line, maps) != NULL) {
    char* const path = strchr(line, '/');
    char* const name = strstr(line, "/libtailrace.so");
    size_t i;
    if (path == NULL || name == NULL) continue;
    name[1] = '\0';
    for (i = 0; i < sizeof places / sizeof *places; ++i) {
      char found[TAILRACE_MPI_TEXT + 64];
      snprintf(found, sizeof found, "%s%stailrace-core", path, places[i]);
      if (strlen(found) >= size || access(found, X_OK) != 0) continue;
      memcpy(out, found, strlen(found) + 1);
      fclose(maps);
      return;
    }
    break;
  }
  fclose(maps);
}

/* Starts the server. Returns its process when clients can come, or when it has failed and reported that on stderr;
 * -1 if it cannot be started. */
static inline pid_t tailrace_mpi_spawn(char** words) {
  extern char** environ;
  posix_spawn_file_actions_t actions;
  int ends[2];
  int error;
  char text[256];
  pid_t process = -1;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], TAILRACE_MPI_ANNOUNCE);
  error = posix_spawnp(&process, words[0], &actions, NULL, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    fprintf(stderr, "tailrace_mpi: the server's program '%s' cannot be started: %s\n", words[0], strerror(error));
    process = -1;
  } else {
    while (recv(ends[0], text, sizeof text, 0) < 0 && errno == EINTR) {
    }
  }
  close(ends[0]);
  return process;
}

/* Makes the server's command and starts it. `known` has the parameters that open will give, so that the
 * configuration can be read; values that differ between ranks do not matter here. */
static inline pid_t tailrace_mpi_serve(const char* config, int number, const tailrace_mpi_where* known,
                                       const tailrace_mpi_options* options) {
  enum { FIXED = 9, PATH = 2, WIDTH = 320 };
  const size_t parameters = TAILRACE_MPI_WHERE_COUNT + options->parameter_count;
  char program[TAILRACE_MPI_TEXT];
  char server[32];
  char wait[64];
  char announce[16];
  tailrace_parameter own[TAILRACE_MPI_WHERE_COUNT];
  char** const words = (char**)malloc((FIXED + PATH + 2 * parameters + 1) * sizeof(char*));
  char* const texts = (char*)malloc(parameters * WIDTH);
  size_t count = 0;
  size_t i;
  pid_t process = -1;
  if (words != NULL && texts != NULL) {
    tailrace_mpi_program(options, program, sizeof program);
    snprintf(server, sizeof server, "%d", number);
    snprintf(wait, sizeof wait, "%.6f", options->wait > 0 ? options->wait : 600.0);
    snprintf(announce, sizeof announce, "%d", (int)TAILRACE_MPI_ANNOUNCE);
    words[count++] = program;
    words[count++] = (char*)"--config";
    words[count++] = (char*)config;
    words[count++] = (char*)"--server";
    words[count++] = server;
    words[count++] = (char*)"--wait";
    words[count++] = wait;
    words[count++] = (char*)"--announce";
    words[count++] = announce;
    if (options->path != NULL) {
      words[count++] = (char*)"--path";
      words[count++] = (char*)options->path;
    }
    tailrace_mpi_parameters(known, own);
    for (i = 0; i < parameters; ++i) {
      const tailrace_parameter* const one =
          i < TAILRACE_MPI_WHERE_COUNT ? &own[i] : &options->parameters[i - TAILRACE_MPI_WHERE_COUNT];
      snprintf(texts + i * WIDTH, WIDTH, "%s=%lld", one->name, (long long)one->value);
      words[count++] = (char*)"--parameter";
      words[count++] = texts + i * WIDTH;
    }
    words[count] = NULL;
    process = tailrace_mpi_spawn(words);
  }
  free(words);
  free(texts);
  return process;
}

static inline void tailrace_mpi_wait_server(pid_t process) {
  int status = 0;
  while (process > 0 && waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  /* The clients start another one, or fail and report why: no failure is silent. */
  if (process <= 0 || status == 0) return;
  if (WIFSIGNALED(status)) {
    fprintf(stderr, "tailrace_mpi: a server ended with signal %d\n", WTERMSIG(status));
  } else {
    fprintf(stderr, "tailrace_mpi: a server ended with exit status %d\n", WEXITSTATUS(status));
  }
}

/* ---- calls -------------------------------------------------------------------------------------------- */

/* Returns the numbers of this rank of `comm`. Collective. */
static inline tailrace_status tailrace_mpi_locate(MPI_Comm comm, tailrace_mpi_where* where) {
  MPI_Comm node;
  const tailrace_status status = tailrace_mpi_node(comm, &node, where);
  if (node != MPI_COMM_NULL) MPI_Comm_free(&node);
  return status;
}

/* Makes servers of the last `cores` ranks of each node. `*computing` is the communicator of all other ranks, in the
 * same order; on them it returns when the servers are ready. On a rank that becomes a server it returns after the
 * last client has left, with MPI_COMM_NULL. `options` may be NULL. Fails with TAILRACE_INVALID_ARGUMENT, on all
 * ranks, if a node would have no rank left to compute, and with TAILRACE_INTERNAL if MPI fails and returns;
 * tailrace_mpi_message() explains it. */
static inline tailrace_status tailrace_mpi_split(MPI_Comm comm, const char* config,
                                                 const tailrace_mpi_options* options, MPI_Comm* computing) {
  tailrace_mpi_options with;
  tailrace_mpi_where where;
  MPI_Comm node;
  int computing_here, least, serves, servers;
  pid_t process = -1;
  tailrace_status status;
  memset(&with, 0, sizeof with);
  if (options != NULL) with = *options;
  if (with.cores == 0) with.cores = 1;
  *computing = MPI_COMM_NULL;
  status = tailrace_mpi_node(comm, &node, &where);
  if (status != TAILRACE_OK) return status;
  computing_here = where.local_size - with.cores;
  if (MPI_Allreduce(&computing_here, &least, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS) {
    return tailrace_mpi_failed("MPI_Allreduce");
  }
  if (least < 1 || with.cores < 1) {
    snprintf(tailrace_mpi_message(), TAILRACE_MPI_TEXT,
             "tailrace_mpi_split: a node has %d ranks, expected more than the %d servers%s", least + with.cores,
             with.cores, where.size == 1 ? " (the mpirun of another MPI starts each rank alone)" : "");
    MPI_Comm_free(&node);
    return TAILRACE_INVALID_ARGUMENT;
  }
  serves = where.local_rank >= computing_here ? 1 : 0;
  if (MPI_Allreduce(&serves, &servers, 1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS) {
    return tailrace_mpi_failed("MPI_Allreduce");
  }
  if (MPI_Comm_split(comm, serves ? MPI_UNDEFINED : 0, where.rank, computing) != MPI_SUCCESS) {
    return tailrace_mpi_failed("MPI_Comm_split");
  }
  if (serves) {
    tailrace_mpi_where known;
    memset(&known, 0, sizeof known);
    known.size = where.size - servers;
    known.local_size = computing_here;
    known.nodes = where.nodes;
    process = tailrace_mpi_serve(config, where.local_rank - computing_here, &known, &with);
  }
  MPI_Barrier(node); /* the node's servers are ready */
  MPI_Comm_free(&node);
  if (serves) tailrace_mpi_wait_server(process);
  return TAILRACE_OK;
}

/* Opens the client whose number is the rank in `comm`, as tailrace_open_with does. The configuration gets the
 * parameters rank and size, local_rank and local_size (of the ranks of `comm` on this node), node (its number), and
 * nodes (their number); those in `options`, which may be NULL, take precedence. Collective: returns when all ranks
 * have opened, or failed to. Otherwise the server, which ends with its last client, could end before a slow rank
 * comes. tailrace_last_error(NULL, …) explains a failure, or tailrace_mpi_message() one of MPI (TAILRACE_INTERNAL).
 */
static inline tailrace_status tailrace_mpi_open(MPI_Comm comm, const char* config,
                                                const tailrace_open_options* options, tailrace_client** out) {
  tailrace_mpi_where where;
  tailrace_open_options with;
  tailrace_parameter* parameters;
  tailrace_status status;
  *out = NULL;
  status = tailrace_mpi_locate(comm, &where);
  if (status != TAILRACE_OK) return status;
  memset(&with, 0, sizeof with);
  if (options != NULL) {
    memcpy(&with, options, options->struct_size < sizeof with ? options->struct_size : sizeof with);
  }
  with.struct_size = sizeof with;
  parameters =
      (tailrace_parameter*)malloc((TAILRACE_MPI_WHERE_COUNT + with.parameter_count) * sizeof(tailrace_parameter));
  status = TAILRACE_OUT_OF_MEMORY;
  if (parameters != NULL) {
    tailrace_mpi_parameters(&where, parameters);
    if (with.parameter_count > 0) {
      memcpy(parameters + TAILRACE_MPI_WHERE_COUNT, with.parameters,
             with.parameter_count * sizeof(tailrace_parameter));
    }
    with.parameters = parameters;
    with.parameter_count += TAILRACE_MPI_WHERE_COUNT;
    status = tailrace_open_with(config, where.rank, &with, out);
    free(parameters);
  }
  MPI_Barrier(comm);
  return status;
}

#ifdef __cplusplus
}
#endif

#endif /* TAILRACE_TAILRACE_MPI_H */
