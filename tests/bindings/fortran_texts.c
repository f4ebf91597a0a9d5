/* Takes the places of all calls of the C interface to which the Fortran module hands texts. Each returns OK if all
 * texts have 300 letters. */
#include <stdlib.h>
#include <string.h>
#include <tailrace/tailrace.h>

static int is_long(const char* name) { return strlen(name) == 300 && name[299] == 'z'; }

static tailrace_status judge(int right) { return right ? TAILRACE_OK : TAILRACE_INVALID_ARGUMENT; }

tailrace_status tailrace_open_with(const char* config, int client, const tailrace_open_options* options,
                                   tailrace_client** out) {
  (void)client;
  *out = NULL;
  int right = is_long(config) && is_long(options->path) && is_long(options->config_text);
  right = right && options->parameter_count == 2 && options->real_parameter_count == 2;
  for (size_t i = 0; right && i < 2; ++i) {
    right = is_long(options->parameters[i].name) && is_long(options->real_parameters[i].name);
    right = right && options->parameters[i].value == (int64_t)i && options->real_parameters[i].value == (double)i;
  }
  return judge(right);
}

tailrace_status tailrace_set_parameters(tailrace_client* client, const tailrace_parameter* parameters, size_t count) {
  (void)client;
  return judge(count == 2 && is_long(parameters[0].name) && is_long(parameters[1].name));
}

tailrace_status tailrace_set_real_parameters(tailrace_client* client, const tailrace_real_parameter* parameters,
                                             size_t count) {
  (void)client;
  return judge(count == 2 && is_long(parameters[0].name) && is_long(parameters[1].name));
}

tailrace_status tailrace_variable(tailrace_client* client, const char* variable, tailrace_variable_info* out) {
  (void)client;
  out->type = TAILRACE_FLOAT64;
  out->rank = 1;
  out->shape[0] = 2;
  out->bytes = 2 * sizeof(double);
  return judge(is_long(variable));
}

tailrace_status tailrace_expect(tailrace_client* client, const char* variable, tailrace_type type, int rank,
                                const uint64_t* shape) {
  (void)client, (void)type, (void)rank, (void)shape;
  return judge(is_long(variable));
}

tailrace_status tailrace_write(tailrace_client* client, const char* variable, int64_t iteration, const void* data) {
  (void)client, (void)iteration, (void)data;
  return judge(is_long(variable));
}

tailrace_status tailrace_read(tailrace_client* client, const char* variable, int64_t iteration, void* data) {
  (void)client, (void)iteration, (void)data;
  return judge(is_long(variable));
}

tailrace_status tailrace_borrow(tailrace_client* client, const char* variable, int64_t iteration, const void* data,
                                tailrace_ticket* ticket) {
  (void)client, (void)iteration, (void)data, (void)ticket;
  return judge(is_long(variable));
}

tailrace_status tailrace_alloc(tailrace_client* client, const char* variable, int64_t iteration, void** data) {
  (void)client, (void)iteration;
  *data = malloc(2 * sizeof(double));
  return judge(is_long(variable));
}

tailrace_status tailrace_commit(tailrace_client* client, const char* variable, int64_t iteration) {
  (void)client, (void)iteration;
  return judge(is_long(variable));
}

tailrace_status tailrace_signal(tailrace_client* client, const char* event, int64_t iteration) {
  (void)client, (void)iteration;
  return judge(is_long(event));
}

tailrace_status tailrace_enable(tailrace_client* client, const char* variable, int on) {
  (void)client, (void)on;
  return judge(is_long(variable));
}

tailrace_status tailrace_get_variable_stats(tailrace_client* client, const char* variable,
                                            tailrace_variable_stats* out) {
  (void)client, (void)out;
  return judge(is_long(variable));
}

tailrace_status tailrace_attribute(tailrace_client* client, const char* variable, int64_t iteration, const char* name,
                                   tailrace_type type, size_t count, const void* data) {
  (void)client, (void)iteration;
  int right = is_long(variable) && is_long(name);
  for (size_t i = 0; right && type == TAILRACE_TEXT && i < count; ++i) right = is_long(((const char* const*)data)[i]);
  return judge(right);
}
