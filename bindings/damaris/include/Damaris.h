/* Damaris.h: the C interface of Damaris 1.7.1, carried out by tailrace (docs/damaris.md).
 *
 * Programs for Damaris are compiled with this header and linked to tailrace's libdamaris. Each call returns one of
 * the codes below. A code other than DAMARIS_OK is explained on stderr. If data that an earlier call accepted cannot
 * be written, the next call returns its code, or damaris_stop at the latest; that call has been carried out all the
 * same.
 *
 * Variables, blocks and positions are as the description in XML declares them. A block is the part of a variable in
 * one domain of a client; its number is 0 if the client has one domain.
 */
#ifndef TAILRACE_DAMARIS_H
#define TAILRACE_DAMARIS_H

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

#define DAMARIS_VERSION_MAJOR 1
#define DAMARIS_VERSION_MINOR 7
#define DAMARIS_VERSION_PATCH 1
#define DAMARIS_VERSION "1.7.1"
#define HAVE_HDF5_ENABLED

#if defined(__GNUC__)
#define TAILRACE_DAMARIS_API __attribute__((visibility("default")))
#else
#define TAILRACE_DAMARIS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
  DAMARIS_OK = 0,
  DAMARIS_INIT_ERROR,          /* no start: a wrong description, no memory, an output directory that is missing */
  DAMARIS_FINALIZE_ERROR,      /* data were lost, and no earlier call has said so */
  DAMARIS_CORE_IS_SERVER,      /* a call for clients, on a rank that is a server */
  DAMARIS_NO_SERVER,           /* no dedicated cores: each client writes itself */
  DAMARIS_ALLOCATION_ERROR,    /* the block does not fit into the buffer, may not be written again, or has texts */
  DAMARIS_CONFIG_ERROR,        /* the description does not allow this */
  DAMARIS_ARGUMENT_ERROR,      /* NULL, or a value out of range */
  DAMARIS_MPI_ERROR,           /* a call of MPI has failed */
  DAMARIS_DATASPACE_ERROR,     /* data could not be written: stderr has the file and the reason */
  DAMARIS_CHANNEL_ERROR,       /* the server is lost, or does not answer within its time */
  DAMARIS_INVALID_TAG,         /* never returned */
  DAMARIS_NOT_INITIALIZED,     /* before damaris_initialize, or before damaris_start */
  DAMARIS_ALREADY_INITIALIZED, /* a second damaris_initialize, or damaris_start */
  DAMARIS_UNDEFINED_ACTION,    /* no such event */
  DAMARIS_UNDEFINED_PARAMETER, /* no such parameter */
  DAMARIS_UNDEFINED_VARIABLE,  /* no such variable */
  DAMARIS_INVALID_BLOCK,       /* the block's number is not below the number of domains */
  DAMARIS_INVALID_DIMENSIONS,  /* parameters and position make no valid block, or one longer than the array */
  DAMARIS_BLOCK_NOT_FOUND,     /* no such block is allocated */
  DAMARIS_REACTOR_NOT_FOUND,   /* never returned */
  DAMARIS_BIND_ERROR,          /* the function of an event cannot be found, or not be bound */
  DAMARIS_ERROR_UNKNOWN        /* all else: stderr has the reason */
};

/* A function that runs when an event is raised: the event's name, the client that raised it, the iteration, "". */
typedef void (*signal_t)(const char*, int32_t, int32_t, const char*);

/* ---- the beginning and the end; collective over the communicator of damaris_initialize ---- */

/* Reads the description. Call it after MPI_Init. */
TAILRACE_DAMARIS_API int damaris_initialize(const char* configfile, MPI_Comm comm);
/* Sets *is_client to 1 on ranks that compute. On dedicated ranks it returns with 0 when all clients have stopped.
 * Without dedicated cores it returns DAMARIS_NO_SERVER, and all ranks are clients. */
TAILRACE_DAMARIS_API int damaris_start(int* is_client);
/* Waits until all data of this client are written. For clients. */
TAILRACE_DAMARIS_API int damaris_stop(void);
/* Call it before MPI_Finalize. */
TAILRACE_DAMARIS_API int damaris_finalize(void);
/* Gives the communicator of the ranks of this kind: clients, or dedicated ones. It is valid until damaris_finalize.
 */
TAILRACE_DAMARIS_API int damaris_client_comm_get(MPI_Comm* comm);

/* ---- data ---- */

/* Copy a block. It has the present dimensions of its layout, with ghosts. */
TAILRACE_DAMARIS_API int damaris_write(const char* varname, const void* data);
TAILRACE_DAMARIS_API int damaris_write_block(const char* varname, int32_t block, const void* data);

/* Give memory in which to build a block of the present iteration. */
TAILRACE_DAMARIS_API int damaris_alloc(const char* varname, void** ptr);
TAILRACE_DAMARIS_API int damaris_alloc_block(const char* varname, int32_t block, void** ptr);

/* Hand an allocated block over. The memory may be read until it is cleared, or the next iteration ends. */
TAILRACE_DAMARIS_API int damaris_commit(const char* varname);
TAILRACE_DAMARIS_API int damaris_commit_block(const char* varname, int32_t block);
TAILRACE_DAMARIS_API int damaris_commit_iteration(const char* varname, int32_t iteration);
TAILRACE_DAMARIS_API int damaris_commit_block_iteration(const char* varname, int32_t block, int32_t iteration);

/* Declare that the program does not read the committed memory any more. */
TAILRACE_DAMARIS_API int damaris_clear(const char* varname);
TAILRACE_DAMARIS_API int damaris_clear_block(const char* varname, int32_t block);
TAILRACE_DAMARIS_API int damaris_clear_iteration(const char* varname, int32_t iteration);
TAILRACE_DAMARIS_API int damaris_clear_block_iteration(const char* varname, int32_t block, int32_t iteration);

/* Set where the block begins in the whole array, without ghosts: a number for each dimension. */
TAILRACE_DAMARIS_API int damaris_set_position(const char* var_name, const int64_t* position);
TAILRACE_DAMARIS_API int damaris_set_block_position(const char* var_name, int32_t block, const int64_t* position);

/* Ends the present iteration of this client; the next one begins. Waits for no other client. */
TAILRACE_DAMARIS_API int damaris_end_iteration(void);
TAILRACE_DAMARIS_API int damaris_get_iteration(int* iteration);

/* ---- parameters ---- */

/* Copy the value, at most `size` bytes. A new value counts for blocks from the next call on, in this client. */
TAILRACE_DAMARIS_API int damaris_parameter_get(const char* param_name, void* buffer, unsigned int size);
TAILRACE_DAMARIS_API int damaris_parameter_set(const char* param_name, const void* buffer, unsigned int size);

/* ---- asking; these are of later versions of Damaris ---- */

typedef enum {
  DAMARIS_TYPE_SHORT = 0,
  DAMARIS_TYPE_INT,
  DAMARIS_TYPE_INTEGER,
  DAMARIS_TYPE_LONG,
  DAMARIS_TYPE_FLOAT,
  DAMARIS_TYPE_REAL,
  DAMARIS_TYPE_DOUBLE,
  DAMARIS_TYPE_CHAR,
  DAMARIS_TYPE_CHARACTER,
  DAMARIS_TYPE_STRING,
  DAMARIS_TYPE_LABEL,
  DAMARIS_TYPE_UNDEFINED
} DAMARIS_TYPE_STR;

/* Gives the type of a variable's elements: INT for integer, FLOAT for real, CHAR for character. */
TAILRACE_DAMARIS_API int damaris_get_type(const char* variable_name, DAMARIS_TYPE_STR* vartype);
/* Returns the name of a code; valid for ever. */
TAILRACE_DAMARIS_API const char* damaris_error_string(int code);

/* A plugin's number in the program's own terms: Damaris' constants are not declared here, as their names and values
 * are not known. */
typedef int DAMARIS_PLUGIN_TYPE;

/* Returns 0 for every number, which stands for "not available", and says once on stderr that it cannot know better.
 * May be called at any time. */
TAILRACE_DAMARIS_API int damaris_has_plugin(DAMARIS_PLUGIN_TYPE plugin);

/* ---- events ---- */

/* Raises an event of the description, or one that is bound to a function. */
TAILRACE_DAMARIS_API int damaris_signal(const char* signal_name);
/* Binds an event to a function of the program. Call it on all ranks, before damaris_start. */
TAILRACE_DAMARIS_API int damaris_bind(const char* signal_name, signal_t sig);

#ifdef __cplusplus
}
#endif

#endif /* TAILRACE_DAMARIS_H */
