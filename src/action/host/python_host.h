/* python_host.h: the functions of libtailrace_python_host.so. The plugin host loads it with the first Python action,
 * so that it has no Python otherwise. */
#ifndef TAILRACE_PYTHON_HOST_H
#define TAILRACE_PYTHON_HOST_H

#include <stddef.h>
#include <tailrace/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs the file and finds the function in it; starts the interpreter if necessary. `environment`, which must fit, and
 * `program` are those of PluginFunction. Returns NULL on failure, with the reason in `why`, which has `size` bytes.
 * The result lives as long as the interpreter. */
typedef void* (*tailrace_python_load_function)(const char* file, const char* function, const char* environment,
                                               const char* program, char* why, size_t size);
/* Calls a loaded function. Returns 0, or 1 with the reason in `why`. */
typedef int (*tailrace_python_call_function)(void* function, const tailrace_plugin_call* call, char* why,
                                             size_t size);
/* Ends the interpreter, with its exit handlers. */
typedef void (*tailrace_python_end_function)(void);

#ifdef __cplusplus
}
#endif

#endif /* TAILRACE_PYTHON_HOST_H */
