/* The C API in C: every function and every kind of result, by a user who has only the header.
 *
 * No framework: CHECK counts and continues, REQUIRE gives up. Faults of the environment (full disks, other processes)
 * are in the C++ tests beside this one.
 */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tailrace/tailrace.h>

static int checks = 0;
static int failures = 0;

#define CHECK(condition) check((condition), #condition, __LINE__)
#define REQUIRE(condition)    \
  do {                        \
    CHECK(condition);         \
    if (!(condition)) return; \
  } while (0)
#define IS(call, expected) is((call), (expected), #call, __LINE__)

static void check(int ok, const char* what, int line) {
  ++checks;
  if (ok) return;
  ++failures;
  fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, line, what);
}

static void is(tailrace_status found, tailrace_status expected, const char* what, int line) {
  ++checks;
  if (found == expected) return;
  ++failures;
  fprintf(stderr, "%s:%d: %s: found %d (%s), expected %d (%s)\n", __FILE__, line, what, (int)found,
          tailrace_status_text(found), (int)expected, tailrace_status_text(expected));
}

enum { NX = 40, NY = 30 };

static const char config_format[] =
    "tailrace: 1\n"
    "name: capi\n"
    "place: {kind: %s, cpus: none}\n"
    "memory: {budget: 2 MiB}\n"
    "storage: {existing: continue}\n"
    "log: {level: \"off\", file: /dev/null}\n"
    "parameters: {nx: 40, ny: 30}\n"
    "layouts:\n"
    "  grid: {type: float64, shape: [ny, nx]}\n"
    "  line: {type: int16, shape: [nx]}\n"
    "variables:\n"
    "  height: {layout: grid, unit: m}\n"
    "  speed: {layout: grid, unit: m/s}\n"
    "  mark: {layout: line}\n";

static const char* place = "thread"; /* or TAILRACE_TEST_PLACE */
static char config_text[1024];
static char directory[256];

static tailrace_error last_error(tailrace_client* client) {
  tailrace_error error;
  memset(&error, 0, sizeof error);
  error.struct_size = sizeof error;
  CHECK(tailrace_last_error(client, &error) == TAILRACE_OK);
  return error;
}

/* Whether the last failure of `client` says `words`; "" for any message at all. */
static int says(tailrace_client* client, tailrace_status status, const char* words) {
  const tailrace_error error = last_error(client);
  const int ok = error.status == status && !error.earlier && error.message[0] != '\0' && strstr(error.message, words);
  if (!ok) fprintf(stderr, "  the message is %d \"%s\"\n", (int)error.status, error.message);
  return ok;
}

static tailrace_open_options options_in_directory(void) {
  tailrace_open_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.config_text = config_text;
  options.path = directory;
  return options;
}

static tailrace_client* open_client(int id) {
  const tailrace_open_options options = options_in_directory();
  tailrace_client* client = NULL;
  IS(tailrace_open_with("capi.yaml", id, &options, &client), TAILRACE_OK);
  if (client == NULL) fprintf(stderr, "%s\n", last_error(NULL).message);
  return client;
}

static int file_exists(const char* name) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  return access(path, F_OK) == 0;
}

/* A server (place core) lets go of a client, and then ends, a moment after it was told to. */
static void await_end_of(const char* name) {
  while (strcmp(place, "core") == 0 && file_exists(name)) sched_yield();
}

static void fill(double* values, double seed) {
  for (int i = 0; i < NX * NY; ++i) values[i] = seed + i;
}

static void every_verb_once(void) {
  tailrace_client* const client = open_client(0);
  REQUIRE(client != NULL);
  static double height[NX * NY], density[NX * NY], found[NX * NY];
  short mark[NX], found_mark[NX];
  fill(height, 0.5);
  fill(density, 7000.25);
  for (int i = 0; i < NX; ++i) mark[i] = (short)(i - 20);

  IS(tailrace_write(client, "height", 3, height), TAILRACE_OK);
  void* memory = NULL;
  void* again = NULL;
  IS(tailrace_alloc(client, "mark", 3, &memory), TAILRACE_OK);
  REQUIRE(memory != NULL);
  CHECK((size_t)memory % 64 == 0);
  IS(tailrace_alloc(client, "mark", 3, &again), TAILRACE_OK);
  CHECK(again == memory);
  memcpy(memory, mark, sizeof mark);
  IS(tailrace_commit(client, "mark", 3), TAILRACE_OK);
  tailrace_ticket ticket = {NULL, 0};
  IS(tailrace_borrow(client, "speed", 3, density, &ticket), TAILRACE_OK);
  CHECK(ticket.client == client && ticket.id != 0);
  IS(tailrace_signal(client, "storm", 3), TAILRACE_OK);
  IS(tailrace_wait(ticket, -1), TAILRACE_OK);
  IS(tailrace_wait(ticket, 0), TAILRACE_OK);
  int ended = 0;
  IS(tailrace_test(ticket, &ended), TAILRACE_OK);
  CHECK(ended == 1);

  memset(found, 0, sizeof found);
  IS(tailrace_read(client, "height", 3, found), TAILRACE_OK);
  CHECK(memcmp(found, height, sizeof found) == 0);
  CHECK(!file_exists("capi_c0_000003.h5"));
  IS(tailrace_end_iteration(client, 3), TAILRACE_OK);
  IS(tailrace_flush(client), TAILRACE_OK);
  CHECK(file_exists("capi_c0_000003.h5"));
  CHECK(!file_exists("capi_c0_000003.h5.part"));
  IS(tailrace_read(client, "speed", 3, found), TAILRACE_OK);
  CHECK(memcmp(found, density, sizeof found) == 0);
  IS(tailrace_read(client, "mark", 3, found_mark), TAILRACE_OK);
  CHECK(memcmp(found_mark, mark, sizeof mark) == 0);

  IS(tailrace_close(client), TAILRACE_OK);
  await_end_of(".capi_c0.lock");
  CHECK(!file_exists(".capi_c0.lock"));
}

static void latest_block_wins(void) {
  tailrace_client* const client = open_client(1);
  REQUIRE(client != NULL);
  static double first[NX * NY], second[NX * NY], found[NX * NY];
  fill(first, 1);
  fill(second, 2);
  IS(tailrace_write(client, "height", 0, first), TAILRACE_OK);
  IS(tailrace_write(client, "height", 0, second), TAILRACE_OK);
  IS(tailrace_read(client, "height", 0, found), TAILRACE_OK);
  CHECK(memcmp(found, second, sizeof found) == 0);
  IS(tailrace_end_iteration(client, 0), TAILRACE_OK);
  IS(tailrace_read(client, "height", 0, found), TAILRACE_OK);
  CHECK(memcmp(found, second, sizeof found) == 0);
  IS(tailrace_close(client), TAILRACE_OK);
}

static void statistics_add_up(void) {
  tailrace_client* const client = open_client(2);
  REQUIRE(client != NULL);
  static double height[NX * NY];
  for (int step = 0; step < 5; ++step) {
    IS(tailrace_write(client, "height", step, height), TAILRACE_OK);
    IS(tailrace_write(client, "speed", step, height), TAILRACE_OK);
    IS(tailrace_signal(client, "tick", step), TAILRACE_OK);
    IS(tailrace_end_iteration(client, step), TAILRACE_OK);
  }
  IS(tailrace_flush(client), TAILRACE_OK);
  tailrace_stats stats;
  memset(&stats, 0xff, sizeof stats);
  stats.struct_size = sizeof stats;
  IS(tailrace_get_stats(client, &stats), TAILRACE_OK);
  CHECK(stats.struct_size == sizeof stats);
  CHECK(stats.blocks_accepted == 10);
  CHECK(stats.blocks_written == 10);
  CHECK(stats.blocks_failed == 0);
  CHECK(stats.blocks_dropped == 0);
  CHECK(stats.blocks_written_through == 0);
  CHECK(stats.bytes_accepted == 10 * sizeof height);
  CHECK(stats.bytes_written == 10 * sizeof height);
  CHECK(stats.iterations_ended == 5);
  CHECK(stats.iterations_published == 5);
  CHECK(stats.iterations_dropped == 0);
  CHECK(stats.iterations_failed == 0);
  CHECK(stats.signals == 5);
  CHECK(stats.failures == 0);
  CHECK(stats.failures_unseen == 0);
  CHECK(stats.memory_budget == 2u << 20);
  CHECK(stats.memory_held == 0);
  CHECK(stats.memory_peak >= sizeof height && stats.memory_peak <= stats.memory_budget);
  CHECK(stats.seconds_copying >= 0 && stats.seconds_waiting_memory >= 0);
  CHECK(stats.seconds_waiting_ticket >= 0 && stats.seconds_writing >= 0);
  IS(tailrace_close(client), TAILRACE_OK);
}

static void variables_are_described(void) {
  tailrace_client* const client = open_client(3);
  REQUIRE(client != NULL);
  tailrace_variable_info info;
  memset(&info, 0xff, sizeof info);
  info.struct_size = sizeof info;
  IS(tailrace_variable(client, "height", &info), TAILRACE_OK);
  CHECK(info.type == TAILRACE_FLOAT64);
  CHECK(info.rank == 2);
  CHECK(info.shape[0] == NY && info.shape[1] == NX && info.shape[2] == 0 && info.shape[3] == 0);
  CHECK(info.bytes == NX * NY * sizeof(double));
  IS(tailrace_variable(client, "depth", &info), TAILRACE_UNKNOWN_VARIABLE);
  CHECK(says(client, TAILRACE_UNKNOWN_VARIABLE, "height, speed, mark"));
  CHECK(strcmp(last_error(client).variable, "depth") == 0);

  tailrace_variable_texts texts;
  texts.struct_size = sizeof texts;
  IS(tailrace_variable_at(client, 0, &texts), TAILRACE_OK);
  IS(tailrace_variable(client, texts.name, &info), TAILRACE_OK);
  CHECK(texts.unit[0] != '\0' && texts.description != NULL);
  IS(tailrace_variable_at(client, 1000000, &texts), TAILRACE_NOT_FOUND);
  IS(tailrace_variable_at(client, 0, NULL), TAILRACE_INVALID_ARGUMENT);

  const uint64_t right[] = {NY, NX};
  const uint64_t turned[] = {NX, NY};
  const uint64_t line[] = {NX};
  IS(tailrace_expect(client, "height", TAILRACE_FLOAT64, 2, right), TAILRACE_OK);
  IS(tailrace_expect(client, "height", TAILRACE_FLOAT32, 2, right), TAILRACE_WRONG_TYPE);
  CHECK(says(client, TAILRACE_WRONG_TYPE, "float32") && says(client, TAILRACE_WRONG_TYPE, "float64"));
  CHECK(strcmp(last_error(client).variable, "height") == 0);
  IS(tailrace_expect(client, "height", TAILRACE_FLOAT64, 2, turned), TAILRACE_WRONG_SHAPE);
  CHECK(says(client, TAILRACE_WRONG_SHAPE, "30") && says(client, TAILRACE_WRONG_SHAPE, "40"));
  IS(tailrace_expect(client, "height", TAILRACE_FLOAT64, 1, line), TAILRACE_WRONG_SHAPE);
  IS(tailrace_expect(client, "height", TAILRACE_FLOAT64, 0, NULL), TAILRACE_WRONG_SHAPE);
  IS(tailrace_expect(client, "height", TAILRACE_FLOAT64, 1000000000, right), TAILRACE_WRONG_SHAPE);
  IS(tailrace_expect(client, "height", TAILRACE_FLOAT64, -1, right), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_expect(client, "height", TAILRACE_FLOAT64, 2, NULL), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_expect(client, "height", (tailrace_type)99, 2, right), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_expect(client, "height", (tailrace_type)0, 2, right), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_expect(client, "depth", TAILRACE_FLOAT64, 2, right), TAILRACE_UNKNOWN_VARIABLE);

  const char* text = NULL;
  IS(tailrace_describe(client, &text), TAILRACE_OK);
  CHECK(text != NULL && strncmp(text, "place ", 6) == 0 && strncmp(text + 6, place, strlen(place)) == 0);
  CHECK(text != NULL && strstr(text, "storage ") && !strchr(text, '\n'));
  IS(tailrace_close(client), TAILRACE_OK);
}

/* What a program built with an older or newer header passes: less, or more, than this library knows. */
static void structures_of_other_sizes(void) {
  tailrace_client* const client = open_client(4);
  REQUIRE(client != NULL);

  unsigned char small[sizeof(tailrace_stats)];
  memset(small, 0xab, sizeof small);
  const size_t two_fields = sizeof(size_t) + sizeof(uint64_t);
  memcpy(small, &two_fields, sizeof two_fields);
  IS(tailrace_get_stats(client, (tailrace_stats*)(void*)small), TAILRACE_OK);
  for (size_t i = two_fields; i < sizeof small; ++i) CHECK(small[i] == 0xab);
  CHECK(memcmp(small, &two_fields, sizeof two_fields) == 0);

  struct {
    tailrace_variable_info known;
    uint64_t later;
  } large;
  memset(&large, 0xab, sizeof large);
  large.known.struct_size = sizeof large;
  IS(tailrace_variable(client, "mark", &large.known), TAILRACE_OK);
  CHECK(large.known.bytes == NX * sizeof(short));
  CHECK(large.later == 0xababababababababu);
  CHECK(large.known.struct_size == sizeof large);

  tailrace_error error;
  memset(&error, 0, sizeof error);
  IS(tailrace_last_error(client, &error), TAILRACE_INVALID_ARGUMENT);
  tailrace_stats stats;
  memset(&stats, 0, sizeof stats);
  IS(tailrace_get_stats(client, &stats), TAILRACE_INVALID_ARGUMENT);
  CHECK(says(client, TAILRACE_INVALID_ARGUMENT, "struct_size"));
  tailrace_variable_info info;
  memset(&info, 0, sizeof info);
  IS(tailrace_variable(client, "mark", &info), TAILRACE_INVALID_ARGUMENT);
  CHECK(says(client, TAILRACE_INVALID_ARGUMENT, "struct_size"));
  IS(tailrace_close(client), TAILRACE_OK);

  /* A caller that knows only config_text, and one whose last fields this library has never heard of. */
  struct {
    tailrace_open_options known;
    uint64_t later[4];
  } options;
  memset(&options, 0xff, sizeof options);
  options.known.struct_size = offsetof(tailrace_open_options, path);
  options.known.config_text = config_text;
  IS(tailrace_check("capi.yaml", &options.known), TAILRACE_OK);
  options.known = options_in_directory();
  options.known.struct_size = sizeof options;
  IS(tailrace_check("capi.yaml", &options.known), TAILRACE_OK);
}

static void null_is_refused(void) {
  tailrace_client* const client = open_client(5);
  REQUIRE(client != NULL);
  static double height[NX * NY];
  tailrace_ticket ticket;
  void* data = height;
  int ended = 7;
  const char* text = NULL;

  IS(tailrace_write(client, NULL, 0, height), TAILRACE_INVALID_ARGUMENT);
  CHECK(says(client, TAILRACE_INVALID_ARGUMENT, "variable"));
  IS(tailrace_write(client, "height", 0, NULL), TAILRACE_INVALID_ARGUMENT);
  CHECK(says(client, TAILRACE_INVALID_ARGUMENT, "NULL"));
  IS(tailrace_alloc(client, NULL, 0, &data), TAILRACE_INVALID_ARGUMENT);
  CHECK(data == NULL);
  IS(tailrace_alloc(client, "height", 0, NULL), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_commit(client, NULL, 0), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_borrow(client, NULL, 0, height, &ticket), TAILRACE_INVALID_ARGUMENT);
  CHECK(ticket.client == NULL && ticket.id == 0);
  IS(tailrace_borrow(client, "height", 0, NULL, &ticket), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_borrow(client, "height", 0, height, NULL), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_signal(client, NULL, 0), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_read(client, NULL, 0, height), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_read(client, "height", 0, NULL), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_variable(client, "height", NULL), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_variable(client, NULL, NULL), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_expect(client, NULL, TAILRACE_INT8, 0, NULL), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_get_stats(client, NULL), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_describe(client, NULL), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_last_error(client, NULL), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_last_error(NULL, NULL), TAILRACE_INVALID_ARGUMENT);

  const tailrace_ticket zero = {NULL, 0};
  IS(tailrace_wait(zero, -1), TAILRACE_OK);
  IS(tailrace_test(zero, &ended), TAILRACE_OK);
  CHECK(ended == 1);
  IS(tailrace_test(zero, NULL), TAILRACE_INVALID_ARGUMENT);

  tailrace_client* const none = NULL;
  IS(tailrace_write(none, "height", 0, height), TAILRACE_INVALID_ARGUMENT);
  CHECK(says(NULL, TAILRACE_INVALID_ARGUMENT, "client"));
  IS(tailrace_alloc(none, "height", 0, &data), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_commit(none, "height", 0), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_borrow(none, "height", 0, height, &ticket), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_end_iteration(none, 0), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_signal(none, "storm", 0), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_flush(none), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_read(none, "height", 0, height), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_describe(none, &text), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_close(none), TAILRACE_INVALID_ARGUMENT);

  IS(tailrace_open(NULL, 0, NULL), TAILRACE_INVALID_ARGUMENT);
  tailrace_client* opened = client;
  IS(tailrace_open(NULL, 0, &opened), TAILRACE_INVALID_ARGUMENT);
  CHECK(opened == NULL);
  IS(tailrace_check(NULL, NULL), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_recover(NULL, 0, NULL, NULL), TAILRACE_INVALID_ARGUMENT);

  /* None of this has harmed the client. */
  IS(tailrace_write(client, "height", 0, height), TAILRACE_OK);
  IS(tailrace_end_iteration(client, 0), TAILRACE_OK);
  IS(tailrace_close(client), TAILRACE_OK);
}

static void wrong_arguments(void) {
  tailrace_client* const client = open_client(6);
  REQUIRE(client != NULL);
  static double height[NX * NY];
  void* data = NULL;
  tailrace_ticket ticket;
  IS(tailrace_write(client, "height", -1, height), TAILRACE_INVALID_ARGUMENT);
  CHECK(last_error(client).iteration == -1 && says(client, TAILRACE_INVALID_ARGUMENT, "-1"));
  IS(tailrace_alloc(client, "height", -1, &data), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_commit(client, "height", -1), TAILRACE_WRONG_ORDER);
  IS(tailrace_borrow(client, "height", INT64_MIN, height, &ticket), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_end_iteration(client, -1), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_signal(client, "storm", -1), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_read(client, "height", -1, height), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_signal(client, "", 0), TAILRACE_INVALID_ARGUMENT);
  char longest[4096];
  memset(longest, 'x', sizeof longest);
  longest[sizeof longest - 1] = '\0';
  IS(tailrace_signal(client, longest, 0), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_write(client, longest, 0, height), TAILRACE_UNKNOWN_VARIABLE);
  IS(tailrace_write(client, "", 0, height), TAILRACE_UNKNOWN_VARIABLE);

  IS(tailrace_commit(client, "height", 0), TAILRACE_WRONG_ORDER);
  CHECK(says(client, TAILRACE_WRONG_ORDER, "alloc"));
  IS(tailrace_read(client, "height", 0, height), TAILRACE_NOT_FOUND);
  CHECK(says(client, TAILRACE_NOT_FOUND, "height") && last_error(client).iteration == 0);
  tailrace_ticket forged = {client, 12345};
  int ended = 0;
  IS(tailrace_wait(forged, 0), TAILRACE_INVALID_ARGUMENT);
  IS(tailrace_test(forged, &ended), TAILRACE_INVALID_ARGUMENT);

  IS(tailrace_write(client, "height", 1, height), TAILRACE_OK);
  IS(tailrace_end_iteration(client, 1), TAILRACE_OK);
  IS(tailrace_write(client, "height", 1, height), TAILRACE_WRONG_ORDER);
  CHECK(says(client, TAILRACE_WRONG_ORDER, "ended"));
  IS(tailrace_signal(client, "late", 1), TAILRACE_WRONG_ORDER);
  IS(tailrace_end_iteration(client, 7), TAILRACE_OK); /* nothing to publish */
  IS(tailrace_alloc(client, "height", 2, &data), TAILRACE_OK);
  IS(tailrace_end_iteration(client, 2), TAILRACE_WRONG_ORDER);
  CHECK(says(client, TAILRACE_WRONG_ORDER, "height"));
  IS(tailrace_commit(client, "height", 2), TAILRACE_OK);
  IS(tailrace_end_iteration(client, 2), TAILRACE_OK);
  IS(tailrace_write(client, "height", INT64_MAX, height), TAILRACE_OK);
  IS(tailrace_end_iteration(client, INT64_MAX), TAILRACE_OK);
  IS(tailrace_flush(client), TAILRACE_OK);
  IS(tailrace_read(client, "height", INT64_MAX, height), TAILRACE_OK);
  IS(tailrace_close(client), TAILRACE_OK);
}

static void the_last_failure_stays_known(void) {
  tailrace_client* const client = open_client(7);
  REQUIRE(client != NULL);
  static double height[NX * NY];
  CHECK(last_error(client).status == TAILRACE_OK);
  CHECK(last_error(client).message[0] == '\0' && last_error(client).iteration == -1);
  IS(tailrace_write(client, "depth", 4, height), TAILRACE_UNKNOWN_VARIABLE);
  IS(tailrace_write(client, "height", 4, height), TAILRACE_OK);
  CHECK(says(client, TAILRACE_UNKNOWN_VARIABLE, "depth"));
  /* A test that has not ended is no failure. */
  tailrace_ticket ticket;
  int ended = 0;
  IS(tailrace_borrow(client, "height", 5, height, &ticket), TAILRACE_OK);
  while (!ended) IS(tailrace_test(ticket, &ended), TAILRACE_OK);
  CHECK(says(client, TAILRACE_UNKNOWN_VARIABLE, "depth"));
  IS(tailrace_end_iteration(client, 4), TAILRACE_OK);
  IS(tailrace_end_iteration(client, 5), TAILRACE_OK);
  IS(tailrace_wait(ticket, INT64_MAX), TAILRACE_OK);
  IS(tailrace_wait(ticket, -1000), TAILRACE_OK);
  IS(tailrace_close(client), TAILRACE_OK);
}

static void a_closed_handle_is_recognised(void) {
  tailrace_client* const client = open_client(8);
  REQUIRE(client != NULL);
  static double height[NX * NY];
  tailrace_ticket ticket = {NULL, 0};
  IS(tailrace_borrow(client, "height", 0, height, &ticket), TAILRACE_OK);
  IS(tailrace_end_iteration(client, 0), TAILRACE_OK);
  IS(tailrace_close(client), TAILRACE_OK);

  void* data = height;
  int ended = 0;
  const char* text = NULL;
  const uint64_t shape[] = {NY, NX};
  tailrace_stats stats;
  tailrace_variable_info info;
  tailrace_ticket other = ticket;
  stats.struct_size = sizeof stats;
  info.struct_size = sizeof info;
  IS(tailrace_write(client, "height", 1, height), TAILRACE_CLOSED);
  IS(tailrace_alloc(client, "height", 1, &data), TAILRACE_CLOSED);
  CHECK(data == NULL);
  IS(tailrace_commit(client, "height", 1), TAILRACE_CLOSED);
  IS(tailrace_borrow(client, "height", 1, height, &other), TAILRACE_CLOSED);
  CHECK(other.client == NULL && other.id == 0);
  IS(tailrace_end_iteration(client, 1), TAILRACE_CLOSED);
  IS(tailrace_signal(client, "storm", 1), TAILRACE_CLOSED);
  IS(tailrace_wait(ticket, -1), TAILRACE_CLOSED);
  IS(tailrace_test(ticket, &ended), TAILRACE_CLOSED);
  IS(tailrace_flush(client), TAILRACE_CLOSED);
  IS(tailrace_read(client, "height", 0, height), TAILRACE_CLOSED);
  IS(tailrace_variable(client, "height", &info), TAILRACE_CLOSED);
  IS(tailrace_expect(client, "height", TAILRACE_FLOAT64, 2, shape), TAILRACE_CLOSED);
  IS(tailrace_get_stats(client, &stats), TAILRACE_CLOSED);
  IS(tailrace_describe(client, &text), TAILRACE_CLOSED);
  IS(tailrace_close(client), TAILRACE_CLOSED);
  CHECK(says(client, TAILRACE_CLOSED, "closed"));
}

static void configuration_by_file_text_and_parameters(void) {
  char path[512];
  snprintf(path, sizeof path, "%s/sim.yaml", directory);
  FILE* file = fopen(path, "w");
  REQUIRE(file != NULL);
  fprintf(file, "%s", config_text);
  fclose(file);
  IS(tailrace_check(path, NULL), TAILRACE_OK);

  const tailrace_parameter parameters[] = {{"nx", 7}, {"extra", 1}};
  tailrace_open_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.path = directory;
  options.parameters = parameters;
  options.parameter_count = 2;
  tailrace_client* client = NULL;
  IS(tailrace_open_with(path, 9, &options, &client), TAILRACE_OK);
  REQUIRE(client != NULL);
  tailrace_variable_info info;
  info.struct_size = sizeof info;
  IS(tailrace_variable(client, "height", &info), TAILRACE_OK);
  CHECK(info.shape[0] == NY && info.shape[1] == 7);
  IS(tailrace_close(client), TAILRACE_OK);

  options.parameters = NULL;
  IS(tailrace_open_with(path, 9, &options, &client), TAILRACE_INVALID_ARGUMENT);
  CHECK(client == NULL);
  const tailrace_parameter nameless[] = {{NULL, 7}};
  options.parameters = nameless;
  options.parameter_count = 1;
  IS(tailrace_check(path, &options), TAILRACE_INVALID_ARGUMENT);
  const tailrace_parameter too_large[] = {{"nx", 100000000}};
  options.parameters = too_large;
  IS(tailrace_check(path, &options), TAILRACE_INVALID_CONFIG);
  const tailrace_parameter negative[] = {{"nx", -3}};
  options.parameters = negative;
  IS(tailrace_check(path, &options), TAILRACE_INVALID_CONFIG);
  options.parameter_count = 0;
  options.path = "";
  IS(tailrace_check(path, &options), TAILRACE_INVALID_ARGUMENT);

  IS(tailrace_open(path, -1, &client), TAILRACE_INVALID_ARGUMENT);
  CHECK(says(NULL, TAILRACE_INVALID_ARGUMENT, "-1"));
  IS(tailrace_open("/nonexistent/sim.yaml", 0, &client), TAILRACE_IO_ERROR);
  CHECK(says(NULL, TAILRACE_IO_ERROR, "/nonexistent/sim.yaml"));
  CHECK(last_error(NULL).system_errno == ENOENT);
  CHECK(strcmp(last_error(NULL).file, "/nonexistent/sim.yaml") == 0);
  IS(tailrace_check(directory, NULL), TAILRACE_IO_ERROR);
  CHECK(last_error(NULL).system_errno == EISDIR);

  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.config_text =
      "tailrace: 1\nname: x\nlayouts: {l: {type: floot, shape: [3]}}\nvariables: {v: {layout: l}}\n";
  IS(tailrace_check("wrong.yaml", &options), TAILRACE_INVALID_CONFIG);
  CHECK(says(NULL, TAILRACE_INVALID_CONFIG, "wrong.yaml:3:") && says(NULL, TAILRACE_INVALID_CONFIG, "floot"));
  CHECK(strcmp(last_error(NULL).file, "wrong.yaml") == 0);
  IS(tailrace_open_with(NULL, 0, &options, &client), TAILRACE_INVALID_CONFIG);
  CHECK(last_error(NULL).message[0] != '\0');
}

static void expect_mistake(void* context, const tailrace_mistake* mistake) {
  static const struct {
    int64_t line, column;
    const char *key, *hint;
  } expected[] = {{2, 1, "nam", "did you mean 'name'?"},
                  {3, 21, "layouts.l.type", "did you mean 'float'?"},
                  {4, 25, "variables.v.layout", "did you mean 'l'?"}};
  const int number = (*(int*)context)++;
  REQUIRE(number < 3);
  CHECK(mistake->struct_size >= sizeof *mistake);
  CHECK(strcmp(mistake->file, "wrong.yaml") == 0);
  CHECK(mistake->line == expected[number].line && mistake->column == expected[number].column);
  CHECK(strcmp(mistake->key, expected[number].key) == 0);
  CHECK(strcmp(mistake->hint, expected[number].hint) == 0);
  CHECK(strstr(mistake->message, mistake->found) != NULL && strstr(mistake->message, mistake->expected) != NULL);
  CHECK(strstr(mistake->message, "wrong.yaml:") == mistake->message);
}

static void all_mistakes_at_once(void) {
  tailrace_open_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.config_text =
      "tailrace: 1\nnam: x\nlayouts: {l: {type: floot, shape: [3]}}\nvariables: {v: {layout: l2}}\n";
  int count = 0;
  IS(tailrace_check_all("wrong.yaml", &options, expect_mistake, &count), TAILRACE_INVALID_CONFIG);
  CHECK(count == 3);
  CHECK(says(NULL, TAILRACE_INVALID_CONFIG, "nam") && says(NULL, TAILRACE_INVALID_CONFIG, "2 more mistakes"));
  IS(tailrace_check_all("wrong.yaml", &options, NULL, NULL), TAILRACE_INVALID_CONFIG);
  IS(tailrace_check_all(NULL, NULL, expect_mistake, &count), TAILRACE_INVALID_ARGUMENT);
  options.config_text = config_text;
  IS(tailrace_check_all("right.yaml", &options, expect_mistake, &count), TAILRACE_OK);
  CHECK(count == 3);
}

static void count_leftover(void* context, const char* file, tailrace_leftover kind, int done, tailrace_status status,
                           const char* message) {
  CHECK(strstr(file, directory) != NULL && message != NULL);
  CHECK(kind == TAILRACE_INCOMPLETE && status == TAILRACE_OK);
  *(int*)context += done ? 100 : 1;
}

static void recovery(void) {
  tailrace_client* const client = open_client(10);
  REQUIRE(client != NULL);
  static double height[NX * NY];
  IS(tailrace_write(client, "height", 0, height), TAILRACE_OK);
  IS(tailrace_close(client), TAILRACE_EARLIER_FAILURE);
  tailrace_error error = last_error(client);
  CHECK(error.status == TAILRACE_NOT_PUBLISHED && error.earlier == 1 && error.iteration == 0 && error.more == 0);
  CHECK(file_exists("capi_c10_000000.h5.part"));
  await_end_of(".capi_c10.lock");
  int found = 0;
  IS(tailrace_recover(directory, 0, count_leftover, &found), TAILRACE_OK);
  CHECK(found == 1);
  CHECK(file_exists("capi_c10_000000.h5.part"));
  found = 0;
  IS(tailrace_recover(directory, 1, count_leftover, &found), TAILRACE_OK);
  CHECK(found == 100);
  CHECK(!file_exists("capi_c10_000000.h5.part") && !file_exists(".capi_c10.lock"));
  found = 0;
  IS(tailrace_recover(directory, 1, count_leftover, &found), TAILRACE_OK);
  CHECK(found == 0);
  IS(tailrace_recover(directory, 1, NULL, NULL), TAILRACE_OK);
  CHECK(tailrace_recover("/nonexistent/out", 0, NULL, NULL) != TAILRACE_OK);
  CHECK(strstr(last_error(NULL).message, "/nonexistent/out") != NULL && last_error(NULL).system_errno == ENOENT);
}

static void texts(void) {
  static const tailrace_status all[] = {TAILRACE_OK,
                                        TAILRACE_INVALID_ARGUMENT,
                                        TAILRACE_INVALID_CONFIG,
                                        TAILRACE_UNKNOWN_VARIABLE,
                                        TAILRACE_WRONG_TYPE,
                                        TAILRACE_WRONG_SHAPE,
                                        TAILRACE_WRONG_ORDER,
                                        TAILRACE_TOO_LARGE,
                                        TAILRACE_BUDGET_HELD,
                                        TAILRACE_NOT_FOUND,
                                        TAILRACE_CLIENT_IN_USE,
                                        TAILRACE_CLOSED,
                                        TAILRACE_BUSY,
                                        TAILRACE_UNSUPPORTED,
                                        TAILRACE_EXISTS,
                                        TAILRACE_TIMEOUT,
                                        TAILRACE_DROPPED,
                                        TAILRACE_ACTION_FAILED,
                                        TAILRACE_CLIENTS_MISSING,
                                        TAILRACE_IO_ERROR,
                                        TAILRACE_EARLIER_FAILURE,
                                        TAILRACE_NOT_PUBLISHED,
                                        TAILRACE_SERVER_LOST,
                                        TAILRACE_OUT_OF_MEMORY,
                                        TAILRACE_INTERNAL};
  const size_t count = sizeof all / sizeof all[0];
  for (size_t i = 0; i < count; ++i) {
    const char* text = tailrace_status_text(all[i]);
    CHECK(text != NULL && text[0] != '\0' && strcmp(text, "unknown status") != 0);
    for (size_t j = 0; j < i; ++j) CHECK(strcmp(text, tailrace_status_text(all[j])) != 0);
  }
  CHECK(strcmp(tailrace_status_text((tailrace_status)12345), "unknown status") == 0);
  CHECK(strcmp(tailrace_version(), TAILRACE_VERSION_STRING) == 0);
}

static int remove_entry(const char* path, const struct stat* status, int kind, struct FTW* walk) {
  (void)status, (void)kind, (void)walk;
  return remove(path);
}

int main(void) {
  const char* const temporary = getenv("TMPDIR");
  snprintf(directory, sizeof directory, "%s/tailrace-api-XXXXXX", temporary ? temporary : "/tmp");
  if (mkdtemp(directory) == NULL) return 2;
  if (getenv("TAILRACE_TEST_PLACE") != NULL) place = getenv("TAILRACE_TEST_PLACE");
  snprintf(config_text, sizeof config_text, config_format, place);
  char runtime[300];
  snprintf(runtime, sizeof runtime, "%s/runtime", directory);
  setenv("TAILRACE_RUNTIME_DIR", runtime, 1);
  every_verb_once();
  latest_block_wins();
  statistics_add_up();
  variables_are_described();
  structures_of_other_sizes();
  null_is_refused();
  wrong_arguments();
  the_last_failure_stays_known();
  a_closed_handle_is_recognised();
  configuration_by_file_text_and_parameters();
  all_mistakes_at_once();
  recovery();
  texts();
  while (strcmp(place, "core") == 0 && rmdir(runtime) != 0) sched_yield(); /* not empty while there is a server */
  nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  printf("%d checks, %d failed\n", checks, failures);
  return failures ? 1 : 0;
}
