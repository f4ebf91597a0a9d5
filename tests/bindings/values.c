/* values CONFIG FIRST: writes the values of tests/python/languages/test_languages.py by the C interface, in the
 * iterations FIRST and FIRST + 1, and reads them back; before that, those of FIRST − 1,
 * which an earlier run has written. */
#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tailrace/tailrace.h>

enum { MOST = 8 };

static tailrace_client* out;

static void require(tailrace_status status, const char* call) {
  if (status == TAILRACE_OK) return;
  tailrace_error error = {.struct_size = sizeof error};
  tailrace_last_error(out, &error);
  fprintf(stderr, "%s: %s\n", call, error.message);
  exit(1);
}

/* All values of an iteration, which are all equal in two runs. */
struct values {
  double t[MOST], x[MOST], y[MOST], energy;
  uint64_t id[MOST];
  double complex ex[2], ey[2];
  float complex narrow[2];
  bool flags[3];
  uint16_t half[3];
  int32_t deep[12];
};

static int count_of(int64_t step) { return (int)(3 + 2 * step) % 5; }

static void fill(struct values* v, int64_t step) {
  memset(v, 0, sizeof *v);
  for (int i = 0; i < count_of(step); ++i) {
    v->t[i] = (double)step + 0.5 * i;
    v->x[i] = (double)(step + i);
    v->y[i] = 0.25 * i;
    v->id[i] = UINT64_C(1) << 63 | (uint64_t)(1000 * step + i);
  }
  for (int k = 0; k < 2; ++k) {
    v->ex[k] = (double)(step + k) + (double)k * I;
    v->ey[k] = -(double)step + (double)(k + 1) * I;
    v->narrow[k] = (float)step + 0.5F * (float)k - (float)k * I;
  }
  for (int k = 0; k < 3; ++k) {
    v->flags[k] = (step + k) % 2 == 0;
    v->half[k] = (uint16_t)(0x3c00 + 0x400 * (step + k)); /* 2 to the power of step + k */
  }
  v->energy = 2.5 * (double)step;
  for (int i = 0; i < 12; ++i) v->deep[i] = (int32_t)(100 * step) + i;
}

/* Names and memory of all variables. */
struct part {
  const char* name;
  void* data;
};
enum { PARTS = 10 };

static void list(struct values* v, struct part parts[PARTS]) {
  const struct part all[PARTS] = {{"T", v->t},
                                  {"E/x", v->ex},
                                  {"E/y", v->ey},
                                  {"narrow", v->narrow},
                                  {"flags", v->flags},
                                  {"half", v->half},
                                  {"deep", v->deep},
                                  {"electrons/position/x", v->x},
                                  {"electrons/id", v->id},
                                  {"energy", &v->energy}};
  memcpy(parts, all, sizeof all);
}

static void set_parameters(int64_t step) {
  const tailrace_parameter whole = {"n", count_of(step)};
  const tailrace_real_parameter real[] = {{"left", 1.5 + (double)step}, {"x0", 0.5 * (double)step}};
  require(tailrace_set_parameters(out, &whole, 1), "set_parameters");
  require(tailrace_set_real_parameters(out, real, 2), "set_real_parameters");
}

static void read_back(int64_t step) {
  struct values expected, found;
  struct part parts[PARTS];
  set_parameters(step);
  fill(&expected, step);
  memset(&found, 0, sizeof found);
  memcpy(found.y, expected.y, sizeof found.y); /* not listed */
  list(&found, parts);
  for (int i = 0; i < PARTS; ++i) require(tailrace_read(out, parts[i].name, step, parts[i].data), parts[i].name);
  if (memcmp(&expected, &found, sizeof found) == 0) return;
  fprintf(stderr, "iteration %lld was read back wrong\n", (long long)step);
  exit(1);
}

static void set_attributes(int64_t step) {
  const char* const note = "from the program";
  const char* const name = "a wave";
  const char* const tags[] = {"a", "bc"};
  const double norms[] = {0.5, 1.5};
  const int64_t counts[] = {step, 2};
  require(tailrace_attribute(out, NULL, step, "note", TAILRACE_TEXT, 1, &note), "note");
  require(tailrace_attribute(out, NULL, step, "tags", TAILRACE_TEXT, 2, tags), "tags");
  require(tailrace_attribute(out, NULL, step, "norms", TAILRACE_FLOAT64, 2, norms), "norms");
  require(tailrace_attribute(out, NULL, step, "counts", TAILRACE_INT64, 2, counts), "counts");
  require(tailrace_attribute(out, "E/x", step, "wave", TAILRACE_TEXT, 1, &name), "wave");
  require(tailrace_attribute(out, "E/x", step, "number", TAILRACE_INT64, 1, &step), "number");
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int64_t first = strtoll(argv[2], NULL, 10);
  int64_t last = -1;
  require(tailrace_open(argv[1], 0, &out), "open");
  require(tailrace_last_iteration(out, &last), "last_iteration");
  if (last != first - 1) {
    fprintf(stderr, "the last iteration is %lld\n", (long long)last);
    return 1;
  }
  double time = 0;
  require(tailrace_last_time(out, &time), "last_time");
  if (last < 0 ? !isnan(time) : time != (double)last * (last % 2 == 0 ? 1.5 : 0.25)) {
    fprintf(stderr, "the time of the last iteration is %g\n", time);
    return 1;
  }
  if (last >= 0) read_back(last);
  for (int64_t step = first; step < first + 2; ++step) {
    struct values v;
    struct part parts[PARTS];
    set_parameters(step);
    fill(&v, step);
    list(&v, parts);
    for (int i = 0; i < PARTS; ++i) require(tailrace_write(out, parts[i].name, step, parts[i].data), parts[i].name);
    require(tailrace_write(out, "electrons/position/y", step, v.y), "write");
    set_attributes(step);
    const tailrace_status ended = step % 2 == 0 ? tailrace_end_iteration_at(out, step, 1.5 * (double)step, 0.125)
                                                : tailrace_end_iteration(out, step);
    require(ended, "end_iteration");
    read_back(step);
  }
  require(tailrace_close(out), "close");
  return 0;
}
