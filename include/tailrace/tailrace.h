/* tailrace.h: the C interface of tailrace, and its only stable ABI.
 *
 * tailrace carries a program's output off its critical path: the program hands blocks of bytes over and continues
 * to compute; a writer writes them to openPMD/HDF5 files. All other language bindings use only this header.
 *
 * Conventions, for every call:
 *  1. It returns a tailrace_status; out-parameters come last and are written only where their call says so.
 *  2. tailrace_last_error() of the same client explains a status other than TAILRACE_OK. If there is no client yet
 *     (open, check, recover), tailrace_last_error(NULL, …) on the same thread does.
 *  3. No failure is silent. If an accepted request fails later, the failure is reported once, by the first of these:
 *     (a) its ticket, (b) the next call of its client, of any kind, which returns TAILRACE_EARLIER_FAILURE, or
 *     (c) tailrace_close. A call that returns TAILRACE_EARLIER_FAILURE *has been carried out*: do not repeat it. If
 *     the call itself fails, it returns its own status, and the following call reports the earlier failure.
 *  4. One thread at a time may use a client handle (any thread; a call by a second thread at the same moment
 *     returns TAILRACE_BUSY). Different clients are independent of each other.
 *  5. Arrays are in C order (last dimension fastest), in the machine's byte order, dense. Sizes are in bytes.
 *  6. Strings are UTF-8, end with NUL, and are borrowed for the call; a returned string lives as long as said there.
 *  7. Structures that may grow begin with `struct_size`: set it to sizeof of the structure before the call.
 *  8. No call throws, aborts on bad input, raises a signal, forks, or needs MPI or an environment variable.
 *  9. A handle, and its tickets and files, belong to the process that opened it. In a child of fork() each call,
 *     even close, returns TAILRACE_FORKED at once and does nothing; a child need not close them. Memory from
 *     tailrace_alloc is not in the child. A child may open clients of its own, with other ids.
 * 10. Functions are only ever appended; their list is src/api/tailrace.map.
 */
#ifndef TAILRACE_TAILRACE_H
#define TAILRACE_TAILRACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAILRACE_VERSION_MAJOR 0
#define TAILRACE_VERSION_MINOR 1
#define TAILRACE_VERSION_PATCH 0
#define TAILRACE_VERSION_STRING "0.1.0"

#if defined(__GNUC__)
#define TAILRACE_API __attribute__((visibility("default")))
#else
#define TAILRACE_API
#endif

/* The most dimensions a layout may have. */
#define TAILRACE_MAX_RANK 8

/* The result of a call, grouped by what was lost. */
typedef enum tailrace_status {
  TAILRACE_OK = 0,

  /* 1xx: this call was refused; nothing else is affected. */
  TAILRACE_INVALID_ARGUMENT = 101, /* a NULL or out-of-range argument */
  TAILRACE_INVALID_CONFIG = 102,   /* the configuration is wrong: the message names file, line and key */
  TAILRACE_UNKNOWN_VARIABLE = 103, /* not declared in the configuration */
  TAILRACE_WRONG_TYPE = 104,       /* the element type is not the declared one */
  TAILRACE_WRONG_SHAPE = 105,      /* rank or extents are not those of the layout, or cannot be */
  TAILRACE_WRONG_ORDER = 106,      /* e.g. a block for an iteration that has ended, or a commit without an alloc */
  TAILRACE_TOO_LARGE = 107,        /* the block can never fit into the memory budget */
  TAILRACE_BUDGET_HELD = 108,      /* the caller's own uncommitted or kept blocks take up the budget */
  TAILRACE_NOT_FOUND = 109,        /* no such block to read, or no such file or directory to work on */
  TAILRACE_CLIENT_IN_USE = 110,    /* another open handle, here or in another process, has this client id */
  TAILRACE_CLOSED = 111,           /* the handle has been closed */
  TAILRACE_BUSY = 112,             /* another thread is inside a call of this client */
  TAILRACE_UNSUPPORTED = 113,      /* valid, but this build or machine cannot do it */
  TAILRACE_EXISTS = 114,           /* files of an earlier run are there, and `storage.existing` is refuse */
  TAILRACE_FORKED = 115,           /* the handle belongs to the parent process, which opened it */

  /* 2xx: not an error of the caller, but the present state. */
  TAILRACE_TIMEOUT = 201,         /* not ended within the given time; the request continues */
  TAILRACE_DROPPED = 202,         /* `when_full: drop` has dropped this whole iteration; its blocks are not written */
  TAILRACE_ACTION_FAILED = 203,   /* an action has failed and is disabled; the data are stored all the same */
  TAILRACE_CLIENTS_MISSING = 204, /* clients never came, or left before the others: files lack their parts */

  /* 3xx: data were lost, or may have been. */
  TAILRACE_IO_ERROR = 301,        /* the operating system refused: see `system_errno` */
  TAILRACE_EARLIER_FAILURE = 302, /* this call was carried out; a request accepted earlier has failed */
  TAILRACE_NOT_PUBLISHED = 303,   /* a file was not published because a request that it depends on failed */
  TAILRACE_SERVER_LOST = 304,     /* the node's server has died and none has replaced it */

  /* 4xx: tailrace itself cannot continue. */
  TAILRACE_OUT_OF_MEMORY = 401, /* the system provides less memory than the budget requires */
  TAILRACE_INTERNAL = 402       /* a defect of tailrace: please report it */
} tailrace_status;

/* Element types: the C types of the same names. A bool is one byte, 0 or 1. float16 is IEEE 754's half precision. A
 * complex number is a pair of real and imaginary part, each of float (complex64) or double (complex128). */
typedef enum tailrace_type {
  TAILRACE_INT8 = 1,
  TAILRACE_INT16,
  TAILRACE_INT32,
  TAILRACE_INT64,
  TAILRACE_UINT8,
  TAILRACE_UINT16,
  TAILRACE_UINT32,
  TAILRACE_UINT64,
  TAILRACE_FLOAT32,
  TAILRACE_FLOAT64,
  TAILRACE_LONG_DOUBLE,
  TAILRACE_BOOL,
  TAILRACE_FLOAT16,
  TAILRACE_COMPLEX64,
  TAILRACE_COMPLEX128,
  TAILRACE_TEXT = 100 /* of attributes alone: const char*, UTF-8, ended by NUL */
} tailrace_type;

/* One process (or thread) of the application, with an identity of its own. tailrace_open opens it, tailrace_close
 * ends it. A closed handle stays recognisable: using it returns TAILRACE_CLOSED. */
typedef struct tailrace_client tailrace_client;

/* A handle on one request, for waiting and for its result. It is a plain value: copy or discard it, there is
 * nothing to free. It is valid until its client is closed. A zeroed ticket has ended. */
typedef struct tailrace_ticket {
  tailrace_client* client;
  uint64_t id;
} tailrace_ticket;

/* A raw file that a client has open: any file, in the program's own format. It is a plain value, like a ticket.
 * One thread at a time uses it together with its client. */
typedef struct tailrace_file {
  tailrace_client* client;
  uint64_t id;
} tailrace_file;

/* How to open a raw file; see tailrace_file_open. */
typedef enum tailrace_file_mode {
  TAILRACE_FILE_READ = 1,
  TAILRACE_FILE_WRITE = 2,
  TAILRACE_FILE_TRUNCATE = 4,  /* with TAILRACE_FILE_WRITE: empties it */
  TAILRACE_FILE_IMMEDIATE = 8, /* with TAILRACE_FILE_WRITE: its writes are not held back to be merged */
  TAILRACE_FILE_PUBLISH = 16,  /* with TAILRACE_FILE_WRITE: it gets its name when it is complete */
  TAILRACE_FILE_SEAL = 32      /* with TAILRACE_FILE_WRITE: a seal is written when it is complete */
} tailrace_file_mode;

/* `length` bytes of a file, from `offset` on; they must end at or before 2^62. */
typedef struct tailrace_extent {
  uint64_t offset;
  uint64_t length;
} tailrace_extent;

/* Memory from tailrace_alloc_kept; tailrace_release ends it. */
typedef struct tailrace_memory tailrace_memory;

/* All that is known about a failure. The strings live until the next failing call on the same client (for client
 * NULL: on the same thread); they are "" where they do not apply. */
typedef struct tailrace_error {
  size_t struct_size;
  tailrace_status status; /* the cause: never TAILRACE_EARLIER_FAILURE */
  int earlier;            /* 1: an earlier accepted request failed; 0: the call itself failed */
  int system_errno;       /* errno of the operating system, or 0 */
  int64_t iteration;      /* -1 where it does not apply */
  uint64_t more;          /* further unreported failures; tailrace_next_error reports them */
  const char* operation;  /* "write", "open", "publish", … */
  const char* file;
  const char* variable;
  const char* message; /* one or more sentences that need no context */
} tailrace_error;

/* A declared variable, with this client's present layout. */
typedef struct tailrace_variable_info {
  size_t struct_size;
  tailrace_type type;
  int rank;                          /* 0 … TAILRACE_MAX_RANK; 0: a scalar */
  uint64_t shape[TAILRACE_MAX_RANK]; /* elements, slowest dimension first; unused ones are 0 */
  uint64_t bytes;                    /* size of one block */
} tailrace_variable_info;

/* The texts of a declared variable. They live as long as the client is open. */
typedef struct tailrace_variable_texts {
  size_t struct_size;
  const char* name;
  const char* unit;        /* "1" if it has none */
  const char* description; /* "" if it has none */
} tailrace_variable_texts;

/* A parameter of the configuration, given by the program (a grid size known only at run time). */
typedef struct tailrace_parameter {
  const char* name;
  int64_t value;
} tailrace_parameter;

/* The same with a real number (a spacing or an origin of a grid, the time between iterations). */
typedef struct tailrace_real_parameter {
  const char* name;
  double value;
} tailrace_real_parameter;

/* Options of tailrace_open_with beyond the file. Zero (NULL) selects the default. */
typedef struct tailrace_open_options {
  size_t struct_size;
  const char* config_text; /* the YAML itself instead of a file; `config` then only names it in messages */
  const char* path;        /* replaces `storage.path`: the output directory */
  const tailrace_parameter* parameters; /* replace or add to `parameters:` */
  size_t parameter_count;
  const char* python_environment; /* folder (Python's sys.prefix) with the packages for Python actions; used if its
                                     version of Python is right and the configuration has no `python.environment` */
  const char* files;              /* replaces `storage.files`: the directory that contains raw files */
  int flush_waits; /* 1: refuses a configuration in which flush does not wait (`storage.durability: accepted`),
                      since the program relies on it */
  const tailrace_real_parameter* real_parameters; /* replace or add to `parameters:`, as `parameters` do */
  size_t real_parameter_count;
} tailrace_open_options;

/* A client's counters so far. They only grow; times are in seconds. */
typedef struct tailrace_stats {
  size_t struct_size;
  uint64_t blocks_accepted;        /* write, commit and borrow calls that were accepted */
  uint64_t blocks_written;         /* … whose bytes have reached storage */
  uint64_t blocks_failed;          /* … that could not be written */
  uint64_t blocks_dropped;         /* refused or discarded with their iteration by `when_full: drop` */
  uint64_t blocks_written_through; /* written directly from the waiting caller's memory: `when_full: sync` */
  uint64_t bytes_accepted;
  uint64_t bytes_written;
  uint64_t iterations_ended;
  uint64_t iterations_published; /* files renamed to their final name */
  uint64_t iterations_dropped;
  uint64_t iterations_failed;    /* ended, but not published */
  uint64_t signals;              /* signals recorded */
  uint64_t failures;             /* all failures of accepted requests */
  uint64_t failures_unseen;      /* … that no call has reported yet */
  uint64_t memory_budget;        /* bytes */
  uint64_t memory_held;          /* bytes of the budget in use now; may be released a moment after requests end */
  uint64_t memory_peak;          /* most bytes ever in use; never above the budget */
  double seconds_copying;        /* in `write`, copying into the pool */
  double seconds_waiting_memory; /* in write and alloc, waiting for memory or for room in the queue */
  double seconds_waiting_ticket; /* in wait, flush, read and close */
  double seconds_writing;        /* engine: time with at least one transfer in progress */
  uint64_t requests_merged;      /* requests of the engine that were written or read together with others */
  uint64_t requests_peak;        /* most unfinished requests at once */
  uint64_t transfers;            /* reads, writes and syncs given to the system */
  uint64_t transfers_direct;     /* … that bypassed the page cache */
  uint64_t transfers_again;      /* … that ended short or interrupted, and were continued */
  uint64_t transfer_fallbacks;   /* … that were refused past the page cache, and repeated through it */
  uint64_t accesses;             /* storage accesses into which pieces of requests were merged */
  uint64_t bytes_overwritten;    /* never written, since a later write of the same client replaced them */
  uint64_t bytes_from_memory;    /* of reads: copied from pending writes, not read from storage */
  uint64_t bytes_sieved;         /* read in vain: holes between requested bytes */
  uint64_t iterations_limit;     /* most iterations that may be unfinished at once: begun and not yet published */
  uint64_t iterations_peak;      /* most that ever were unfinished at once */
} tailrace_stats;

/* Durations of a repeated event, in seconds; all 0 if it never happened. The percentiles come from a histogram and
 * may be up to a quarter too high, never too low. */
typedef struct tailrace_times {
  uint64_t count;
  double total;
  double mean;
  double p50;
  double p90;
  double p99;
  double most;
} tailrace_times;

/* A client's counters so far for one variable. They only grow. A block is `queued` from its hand-over until its
 * first transfer begins, and `writing` from then until it is written or has failed. */
typedef struct tailrace_variable_stats {
  size_t struct_size;
  uint64_t blocks_accepted;
  uint64_t blocks_written;
  uint64_t blocks_failed;
  uint64_t blocks_refused;         /* `when_full: drop` dropped their iteration before they came */
  uint64_t blocks_written_through; /* `when_full: sync` */
  uint64_t blocks_merged;          /* written together with others */
  uint64_t bytes_accepted;
  uint64_t bytes_written;
  tailrace_times handover; /* time of the caller per block: in write, in alloc and commit, or in borrow */
  tailrace_times waiting;  /* time of the caller: in wait, until the request ended, and in read */
  tailrace_times queued;
  tailrace_times writing;
  /* Only for variables with `compress` or `precision`: */
  uint64_t chunks_filtered;
  uint64_t chunks_relaxed;  /* … with the fastest level, for lack of time for the configured one */
  uint64_t chunks_skipped;  /* … and not compressed, for lack of time even for that */
  uint64_t bytes_filtered;  /* of these chunks, before filtering */
  uint64_t bytes_stored;    /* … and after */
  tailrace_times filtering; /* per block: all of its chunks, one after the other */
  /* Blocks of 128 KiB and more, in files that allow direct transfers, that went through the page cache, in whole
   * or in part: the system refused, or their pieces are too short. */
  uint64_t blocks_cached;
} tailrace_variable_stats;

/* Sizes in bytes. */
typedef struct tailrace_sizes {
  uint64_t count;
  uint64_t bytes; /* sum of all sizes */
  uint64_t most;
  uint64_t buckets[48]; /* [i]: count of sizes from 2^i to below 2^(i+1); the last also counts all larger sizes */
} tailrace_sizes;

/* Counters for one file. They only grow. The first members count this client's calls. The others count the
 * writer's work on the file while this client had it open, for any client. */
typedef struct tailrace_file_stats {
  size_t struct_size;
  uint64_t writes; /* accepted calls of tailrace_file_write */
  uint64_t bytes_written;
  uint64_t reads;
  uint64_t bytes_read;
  tailrace_times handover;    /* time of the caller in tailrace_file_write */
  tailrace_times waiting;     /* time of the caller in tailrace_file_read, _sync and _close */
  uint64_t requests_merged;   /* written or read together with others */
  uint64_t bytes_overwritten; /* never written, since a later write of the same client replaced them */
  uint64_t bytes_from_memory; /* of reads: copied from pending writes, not read from storage */
  tailrace_sizes before;      /* extents of the requests that have begun */
  tailrace_sizes after;       /* storage accesses into which they were merged */
  uint64_t bytes_sieved;      /* read in vain: holes between requested bytes */
} tailrace_file_stats;

/* ---- opening and closing ------------------------------------------------------------------------------ */

/* Opens client `client` (0 or more; usually the MPI rank) with the configuration file `config`. Checks the whole
 * configuration, takes the memory budget and starts the writer. Fails with TAILRACE_INVALID_CONFIG,
 * TAILRACE_IO_ERROR (no such file, directory not writable), TAILRACE_CLIENT_IN_USE, TAILRACE_OUT_OF_MEMORY. `*out`
 * is the handle, or NULL on failure. */
TAILRACE_API tailrace_status tailrace_open(const char* config, int client, tailrace_client** out);

/* Does the same with options. `options` may be NULL. The call copies everything that it points to. */
TAILRACE_API tailrace_status tailrace_open_with(const char* config, int client, const tailrace_open_options* options,
                                                tailrace_client** out);

/* Waits until all accepted requests have ended, stops the writer and releases the memory. Iterations that the
 * program has not ended stay unpublished (`.part`) and are reported. Writes the files that the configuration's
 * `measurements` ask for. Returns TAILRACE_EARLIER_FAILURE if there are unreported failures: the first one is the
 * last error, `more` counts the others, tailrace_next_error reports these, and the log contains all. The client is
 * closed in any case. */
TAILRACE_API tailrace_status tailrace_close(tailrace_client* client);

/* ---- handing blocks over ------------------------------------------------------------------------------ */

/* Copies one block of `info.bytes` bytes (`data` may be NULL if that is 0) and returns: one copy, no I/O. If the
 * budget is full, the call blocks, writes through, or drops the iteration (TAILRACE_DROPPED), as
 * `memory.when_full` says. The caller may reuse `data` when the call returns.
 *
 * The following holds for every verb that begins an iteration (write, alloc, borrow, signal, and end_iteration if
 * clients share files). If `iterations_limit` (tailrace_stats) iterations are unfinished, the call blocks until
 * one is published (`block` and `sync`), or drops the new iteration. Fails with TAILRACE_WRONG_ORDER if the caller
 * has ended none of them. */
TAILRACE_API tailrace_status tailrace_write(tailrace_client* client, const char* variable, int64_t iteration,
                                            const void* data);

/* Returns memory of the pool in which to build the block without a copy: `info.bytes` long, aligned to a cache
 * line (to a page, for blocks of a page and more). It belongs to the caller until tailrace_commit. A second alloc
 * before the commit returns the same memory. `when_full: sync` blocks here, as there are no bytes to write yet.
 * `*data` is set on TAILRACE_OK and TAILRACE_EARLIER_FAILURE, else NULL. */
TAILRACE_API tailrace_status tailrace_alloc(tailrace_client* client, const char* variable, int64_t iteration,
                                            void** data);

/* Does the same for callers that do not know when the memory is last read, such as bindings whose arrays are
 * garbage-collected. The memory keeps its address and contents until tailrace_release(*memory): also after the
 * commit (it must then only be read), after the end of a dropped iteration, and after close. Until then it counts
 * against the budget: if there is no room, and only such memory and uncommitted blocks take it up, the call
 * returns TAILRACE_BUDGET_HELD. A second call before the commit returns the same memory, which is kept until both
 * have been released. Both out-parameters are set on TAILRACE_OK and TAILRACE_EARLIER_FAILURE, else NULL. */
TAILRACE_API tailrace_status tailrace_alloc_kept(tailrace_client* client, const char* variable, int64_t iteration,
                                                 void** data, tailrace_memory** memory);

/* Releases `memory`, once; NULL does nothing. May be called on any thread, at any time: also while another thread
 * is inside a call of the client, after close, and in a child of fork(), where it does not affect the parent's
 * memory. */
TAILRACE_API void tailrace_release(tailrace_memory* memory);

/* Hands the allocated block over. The caller must not touch the memory any more. */
TAILRACE_API tailrace_status tailrace_commit(tailrace_client* client, const char* variable, int64_t iteration);

/* Lends the caller's own memory, at any address: the call copies nothing, and uses none of the budget. `data` must
 * stay valid and unchanged until the ticket has ended. That is certain when tailrace_wait or tailrace_test has
 * reported it, when close has returned, or when a flush that waits has returned (with `storage.durability:
 * accepted` flush does not wait). `*ticket` is set on TAILRACE_OK and TAILRACE_EARLIER_FAILURE, else zeroed. */
TAILRACE_API tailrace_status tailrace_borrow(tailrace_client* client, const char* variable, int64_t iteration,
                                             const void* data, tailrace_ticket* ticket);

/* Announces that the client hands over nothing more for `iteration`: the writer completes and publishes its file
 * in the background. Returns at once if the iteration has begun. An iteration without blocks has nothing to
 * publish; ending one again does nothing. */
TAILRACE_API tailrace_status tailrace_end_iteration(tailrace_client* client, int64_t iteration);

/* Does the same, and records the iteration's time and the time to the next iteration, in the unit of `time.unit`. NaN
 * stands for what the configuration says: `time` = iteration · `time.dt`, `dt` = `time.dt`. Programs whose steps are
 * not all equal need it. Has no effect if the iteration has no block of this client. Clients that share a file give
 * the same values: another one is reported as an earlier failure (TAILRACE_INVALID_ARGUMENT), and the first remains.
 */
TAILRACE_API tailrace_status tailrace_end_iteration_at(tailrace_client* client, int64_t iteration, double time,
                                                       double dt);

/* Sets the attribute `name` of `iteration`, or, if `variable` is not NULL, of that variable's dataset in it. The
 * configuration's `attributes` set those that are the same in each iteration. `data` points to `count` elements of
 * `type`: a number makes an attribute of int64 or float64, several make a vector. With TAILRACE_TEXT it points to
 * `count` pointers to text. A later call replaces the value. A variable's attribute is stored if a block of it comes.
 * Fails with TAILRACE_INVALID_ARGUMENT (a name that is not allowed, or that tailrace writes itself; a type that
 * attributes do not have) and TAILRACE_TOO_LARGE (more than 8 KiB). Clients that share a file give the same values:
 * see tailrace_end_iteration_at. */
TAILRACE_API tailrace_status tailrace_attribute(tailrace_client* client, const char* variable, int64_t iteration,
                                                const char* name, tailrace_type type, size_t count, const void* data);

/* Raises the event `event` of `iteration`: it is recorded in the iteration's file, and in place `core` the actions
 * that the configuration binds to it run. Returns at once if the iteration has begun; actions that fail are
 * reported as earlier failures. */
TAILRACE_API tailrace_status tailrace_signal(tailrace_client* client, const char* event, int64_t iteration);

/* ---- changes while the program runs ------------------------------------------------------------------- */

/* Gives parameters of the configuration new values, all together. Shapes, global shapes, offsets, spacings and
 * origins that name them change for the blocks that are handed over, allocated and read from now on. So an array may
 * have another length in each iteration, even 0. (Other keys keep the values they had at open.) A call that is
 * refused changes nothing: TAILRACE_INVALID_ARGUMENT (no such parameter, or `client`), TAILRACE_WRONG_SHAPE (a layout
 * would be invalid), TAILRACE_TOO_LARGE (a block would not fit into the budget), TAILRACE_WRONG_ORDER (a block whose
 * layout would change is allocated and not committed). */
TAILRACE_API tailrace_status tailrace_set_parameters(tailrace_client* client, const tailrace_parameter* parameters,
                                                     size_t count);

/* Does the same for real numbers. A parameter that was an integer at open takes integers alone; one that was a real
 * number takes both. A value that is no finite number, or makes a spacing 0, is refused. */
TAILRACE_API tailrace_status tailrace_set_real_parameters(tailrace_client* client,
                                                          const tailrace_real_parameter* parameters, size_t count);

/* Switches a variable on (1) or off (0), from the next call on. For a variable that is off, write, borrow and
 * commit do nothing and return TAILRACE_OK (with an empty ticket), and alloc still returns memory; its blocks
 * appear in no file. `variables.<name>.enabled` sets the state at open. */
TAILRACE_API tailrace_status tailrace_enable(tailrace_client* client, const char* variable, int on);

/* ---- waiting and reading ------------------------------------------------------------------------------ */

/* Waits until the request has ended, at most `timeout_ms` milliseconds (-1: no limit). Returns TAILRACE_OK if it
 * was written, TAILRACE_TIMEOUT if it has not ended, else the reason for its failure. Once it has ended, either
 * way, the memory belongs to the caller again. A ticket may be waited for more than once. */
TAILRACE_API tailrace_status tailrace_wait(tailrace_ticket ticket, int64_t timeout_ms);

/* Does the same without waiting; `*ended` is 1 if the request has ended, else 0. */
TAILRACE_API tailrace_status tailrace_test(tailrace_ticket ticket, int* ended);

/* Waits until everything that this client handed over has ended as `storage.durability` demands: accepted (returns
 * at once), written (all bytes written, ended iterations published) or durable (and those synced to the device). */
TAILRACE_API tailrace_status tailrace_flush(tailrace_client* client);

/* Does the same without waiting. The ticket ends when everything handed over before this call has ended (also with
 * `accepted`). It does not carry their results: failures are reported as usual (convention 3). Until it ends, no
 * request is held back to be merged. `*ticket` is set on TAILRACE_OK and TAILRACE_EARLIER_FAILURE, else zeroed. */
TAILRACE_API tailrace_status tailrace_iflush(tailrace_client* client, tailrace_ticket* ticket);

/* Reads one block that this client wrote, `info.bytes` long, into `data`, and waits for it. Sees every earlier
 * write of this client, published or not. Fails with TAILRACE_NOT_FOUND if there is no such block, and with
 * TAILRACE_WRONG_SHAPE if the block was written with another shape than its layout has now. */
TAILRACE_API tailrace_status tailrace_read(tailrace_client* client, const char* variable, int64_t iteration,
                                           void* data);

/* Returns the last iteration that an earlier run of this name has published, as it was when the client was opened:
 * where a program goes on after a crash. Needs `storage.existing: continue`. It has all of its bytes, and
 * tailrace_read reads its blocks. `*iteration` is -1 if there is none. With a file for each process, each client has
 * its own; take the least of all clients. Never returns TAILRACE_EARLIER_FAILURE. */
TAILRACE_API tailrace_status tailrace_last_iteration(tailrace_client* client, int64_t* iteration);

/* Returns the time of that iteration, as tailrace_end_iteration_at gave it: with the next time step, a program goes
 * on from it. It is in the configuration's `time.unit`, also if the earlier run had another. `*time` is NaN if there
 * is no such iteration, or if its file has no time that can be read. Never returns TAILRACE_EARLIER_FAILURE. */
TAILRACE_API tailrace_status tailrace_last_time(tailrace_client* client, double* time);

/* ---- raw files ---------------------------------------------------------------------------------------- */

/* Opens the file `path`. The path is relative to the first directory of `storage.files` (or, without that key, of
 * `storage.path`), or absolute and below any of them. It must stay below: it contains no "..", and no component is
 * a symbolic link. Its directory must exist. `mode` is one of:
 *  - TAILRACE_FILE_READ: reads an existing file.
 *  - TAILRACE_FILE_WRITE: reads and writes. Creates a missing file. An existing one keeps its contents, unless
 *    TAILRACE_FILE_TRUNCATE is added.
 *
 * One or more of these may be added to TAILRACE_FILE_WRITE, but not the last two together:
 *  - TAILRACE_FILE_IMMEDIATE: its writes, and those that others make to the file meanwhile, go to storage at once. A
 * program that needs this only for some writes opens the file twice; the order of writes is the same through both.
 *  - TAILRACE_FILE_PUBLISH: the call opens (creates, empties) `path` with ".partial" appended. When the file has
 *    been closed and no request for it has failed, it gets the name `path` and replaces any file of that name. After
 *    a failure, or if it is never closed, it keeps the name with ".partial", and the close, or else tailrace_close,
 *    returns TAILRACE_NOT_PUBLISHED. With `storage.durability: durable` its data are on the device before it is
 *    renamed, and its name is at the end of the close. Until the close has ended, neither name may be open elsewhere
 *    at the same server, in any mode (TAILRACE_WRONG_ORDER).
 *  - TAILRACE_FILE_SEAL: the file has its name from the start, and readers recognise by its contents that it is
 *    complete. Its close writes the seal (tailrace_file_seal) last, if no request for the file has failed. After a
 *    failure, or if it is never closed, the seal is not written, and the close, or else tailrace_close, returns
 *    TAILRACE_NOT_PUBLISHED. Everything else is as with TAILRACE_FILE_PUBLISH; with `durable` the data are on the
 *    device before the seal is written.
 *
 * Clients of one server (place `core`) that open the same path share the file. A file that any of them has open
 * cannot be truncated (TAILRACE_WRONG_ORDER). The number of open files is limited by the budget, which holds their
 * paths (a cache line and more each), and by the descriptors of the server's process (two or three each). If 64
 * files are being closed (tailrace_file_iclose), the call waits for the oldest of these.
 *
 * Waits for the server's answer. Fails with TAILRACE_NOT_FOUND if there is no file to read, and with
 * TAILRACE_IO_ERROR if the system refuses. Never returns TAILRACE_EARLIER_FAILURE. `*out` is set on TAILRACE_OK,
 * else zeroed. */
TAILRACE_API tailrace_status tailrace_file_open(tailrace_client* client, const char* path, int mode,
                                                tailrace_file* out);

/* Writes the `count` extents (list I/O). `data` contains their bytes, one extent after the other, in the order of
 * the list, which may differ from the file's. Returns when all bytes have been copied into the pool; the caller
 * may then reuse `data`. If the budget is full, the call waits, whatever `memory.when_full` says. Failures are
 * reported later, like those of all accepted requests (convention 3), with operation "file_write" and the file's
 * name; some of the list may then have been written. Writes of one client to the same bytes take effect in their
 * order; overlapping writes of different clients take effect in any order. Empty extents are skipped. Fails with
 * TAILRACE_INVALID_ARGUMENT, and writes nothing, if there are no extents, if extents overlap or end beyond 2^62,
 * if `data` is NULL for a list with bytes, or if the file was opened for reading. A list that needs more than a
 * fourth of the budget is written in several requests; if the call then fails with another status, it may have handed
 * over the first of them. */
TAILRACE_API tailrace_status tailrace_file_write(tailrace_file file, size_t count, const tailrace_extent* extents,
                                                 const void* data);

/* Does the same with a ticket, which ends when all the bytes have been written (tailrace_wait returns the reason
 * if they could not be). The list must fit into a fourth of the budget; otherwise the call fails with
 * TAILRACE_TOO_LARGE and writes nothing. `*ticket` is set on TAILRACE_OK and TAILRACE_EARLIER_FAILURE, else
 * zeroed. */
TAILRACE_API tailrace_status tailrace_file_iwrite(tailrace_file file, size_t count, const tailrace_extent* extents,
                                                  const void* data, tailrace_ticket* ticket);

/* Does the same without a copy, if possible: in place `thread`, for one extent of less than 4 GiB, in a file that
 * the client has not read since it opened it. `data` must stay valid and unchanged until the ticket has ended, as
 * with tailrace_borrow. Otherwise the call copies the bytes like tailrace_file_iwrite, within its limit. */
TAILRACE_API tailrace_status tailrace_file_borrow(tailrace_file file, size_t count, const tailrace_extent* extents,
                                                  const void* data, tailrace_ticket* ticket);

/* Reads the extents into `data`, one after the other in the order of the list, and waits for them. Extents may
 * overlap. Sees all earlier writes of this client. Bytes of a hole are 0. Fails with TAILRACE_IO_ERROR if the file
 * ends before an extent does; `data` may then be written in part. */
TAILRACE_API tailrace_status tailrace_file_read(tailrace_file file, size_t count, const tailrace_extent* extents,
                                                void* data);

/* Waits until all earlier writes of this client to the file, and the file's name, are on the device. */
TAILRACE_API tailrace_status tailrace_file_sync(tailrace_file file);

/* Returns the length of the file in bytes, after all earlier writes of this client to it. Waits for the server's
 * answer. Never returns TAILRACE_EARLIER_FAILURE. `*bytes` is set on TAILRACE_OK, else 0. */
TAILRACE_API tailrace_status tailrace_file_size(tailrace_file file, uint64_t* bytes);

/* Truncates or extends the file to `bytes`; new bytes are 0. Takes effect after all earlier writes of this client
 * to the file and before its later ones; concurrent writes of other clients come before or after it. Waits for the
 * server's answer. Never returns TAILRACE_EARLIER_FAILURE. Fails with TAILRACE_INVALID_ARGUMENT for a file opened
 * for reading, or beyond 2^62; and with TAILRACE_IO_ERROR if the system refuses, which leaves the file unchanged. */
TAILRACE_API tailrace_status tailrace_file_truncate(tailrace_file file, uint64_t bytes);

/* Reserves the bytes from `offset` on, so that writing them cannot fail for lack of space, and makes the file at
 * least that long, like posix_fallocate. Does nothing on a file system that cannot reserve. Order and errors are
 * as with tailrace_file_truncate. */
TAILRACE_API tailrace_status tailrace_file_allocate(tailrace_file file, uint64_t offset, uint64_t bytes);

/* Removes the file `path`, which has the form that tailrace_file_open requires. Waits for the server's answer.
 * Never returns TAILRACE_EARLIER_FAILURE. Fails with TAILRACE_WRONG_ORDER if a client of the same server has the
 * file open or its close has not ended, with TAILRACE_NOT_FOUND if there is none, and with TAILRACE_IO_ERROR if
 * the system refuses. */
TAILRACE_API tailrace_status tailrace_file_remove(tailrace_client* client, const char* path);

/* Waits until all writes of this client to the file have ended, and closes it. Like every call it may report
 * failures of earlier requests (TAILRACE_EARLIER_FAILURE). The file is closed in any case, and using it returns
 * TAILRACE_CLOSED. In place thread, the process has lost its POSIX locks on the file, as after any close(2) of it.
 * Closing a client closes its open files, but does not publish them. */
TAILRACE_API tailrace_status tailrace_file_close(tailrace_file file);

/* Does the same without waiting, with a ticket that ends when the file has been closed, and published if it is to
 * be. tailrace_close waits for it, too. `*ticket` is set on TAILRACE_OK and TAILRACE_EARLIER_FAILURE, else zeroed. */
TAILRACE_API tailrace_status tailrace_file_iclose(tailrace_file file, tailrace_ticket* ticket);

/* Declares that a file opened with TAILRACE_FILE_PUBLISH or TAILRACE_FILE_SEAL will not be complete: its close
 * leaves it under the name with ".partial", or without its seal, and reports that. Fails with
 * TAILRACE_INVALID_ARGUMENT for any other file. */
TAILRACE_API tailrace_status tailrace_file_give_up(tailrace_file file);

/* Sets the seal of a file opened with TAILRACE_FILE_SEAL, `bytes` (1 to 16) at `offset`; the last call before the
 * close counts. Without a seal the file is closed like any other. The call copies `seal`. It does not wait. Never
 * returns TAILRACE_EARLIER_FAILURE. Fails with TAILRACE_INVALID_ARGUMENT for any other file. */
TAILRACE_API tailrace_status tailrace_file_seal(tailrace_file file, uint64_t offset, size_t bytes, const void* seal);

/* ---- asking ------------------------------------------------------------------------------------------- */

/* Returns type, shape and size of a declared variable. Never returns TAILRACE_EARLIER_FAILURE. */
TAILRACE_API tailrace_status tailrace_variable(tailrace_client* client, const char* variable,
                                               tailrace_variable_info* out);

/* Returns the texts of the declared variable of this index: 0, 1, … in the configuration's order. Fails with
 * TAILRACE_NOT_FOUND past the last one. Never returns TAILRACE_EARLIER_FAILURE. */
TAILRACE_API tailrace_status tailrace_variable_at(tailrace_client* client, size_t index,
                                                  tailrace_variable_texts* out);

/* Checks the caller's idea of a variable. Fails with TAILRACE_WRONG_TYPE or TAILRACE_WRONG_SHAPE and a message
 * that names both sides. `shape` has `rank` entries, slowest dimension first. The bindings call it before every
 * block, so that a wrong array is never written. Never returns TAILRACE_EARLIER_FAILURE. */
TAILRACE_API tailrace_status tailrace_expect(tailrace_client* client, const char* variable, tailrace_type type,
                                             int rank, const uint64_t* shape);

/* Returns this client's counters. Never returns TAILRACE_EARLIER_FAILURE (the counters include failures). */
TAILRACE_API tailrace_status tailrace_get_stats(tailrace_client* client, tailrace_stats* out);

/* Returns this client's counters for one declared variable. Never returns TAILRACE_EARLIER_FAILURE. */
TAILRACE_API tailrace_status tailrace_get_variable_stats(tailrace_client* client, const char* variable,
                                                         tailrace_variable_stats* out);

/* Returns the counters for the raw file `path`, as this client opened it (of the 64 files that it opened last);
 * or, for NULL, for all iteration files together. Fails with TAILRACE_NOT_FOUND if nothing is known of such a
 * file. Never returns TAILRACE_EARLIER_FAILURE. */
TAILRACE_API tailrace_status tailrace_get_file_stats(tailrace_client* client, const char* path,
                                                     tailrace_file_stats* out);

/* Returns the failure of the last failing call of this client; for NULL, of the last failing call without a client
 * on this thread. `out->status` is TAILRACE_OK if there was none. */
TAILRACE_API tailrace_status tailrace_last_error(tailrace_client* client, tailrace_error* out);

/* Reports the oldest failure of an earlier request that no call has reported yet, with `earlier` 1, as the next
 * call would; `out->status` is TAILRACE_OK if there is none. After close it reports those that the close has not.
 * Call it until there is none left to get all causes. Its strings live as long as those of tailrace_last_error. */
TAILRACE_API tailrace_status tailrace_next_error(tailrace_client* client, tailrace_error* out);

/* Describes the writer and its resources in one line of text ("place thread, pinned to cpu 1 (…); uring, …; pool
 * …"), for logs and reports. The text lives as long as the client is open. Never returns TAILRACE_EARLIER_FAILURE. */
TAILRACE_API tailrace_status tailrace_describe(tailrace_client* client, const char** text);

/* Returns a short English name of a status ("wrong type"); never NULL; valid for ever. */
TAILRACE_API const char* tailrace_status_text(tailrace_status status);

/* Returns "0.1.0"; valid for ever. */
TAILRACE_API const char* tailrace_version(void);

/* ---- without a client --------------------------------------------------------------------------------- */

/* Checks a whole configuration, as tailrace_open would, and opens nothing. `options` may be NULL. */
TAILRACE_API tailrace_status tailrace_check(const char* config, const tailrace_open_options* options);

/* One mistake in a configuration. Its strings live for the call of the callback. */
typedef struct tailrace_mistake {
  size_t struct_size; /* set by tailrace: a later version may append members */
  const char* file;
  int64_t line; /* counts from 1, like `column` */
  int64_t column;
  const char* key;      /* such as "layouts.field.shape[1]"; "" for the whole file */
  const char* found;    /* also in `message` */
  const char* expected; /* also in `message` */
  const char* hint;     /* also in `message`; may be "" */
  const char* message;  /* "FILE:LINE:COLUMN: KEY: found X, expected Y; hint" */
} tailrace_mistake;

typedef void (*tailrace_mistake_callback)(void* context, const tailrace_mistake* mistake);

/* Checks like tailrace_check, and calls `callback` (may be NULL) for each mistake, in the order of the file, for at
 * most 100. It leaves out what is wrong only because of another mistake. A file that is no YAML has one mistake. */
TAILRACE_API tailrace_status tailrace_check_all(const char* config, const tailrace_open_options* options,
                                                tailrace_mistake_callback callback, void* context);

/* What a crash left of one file. */
typedef enum tailrace_leftover {
  TAILRACE_COMPLETE = 1,   /* all bytes were written; only the rename is missing */
  TAILRACE_INCOMPLETE = 2, /* bytes are missing */
  TAILRACE_IN_USE = 3,     /* its client is alive: never touched */
  TAILRACE_STALE_LOCK = 4  /* the lock file of a client that no longer exists */
} tailrace_leftover;

/* Called for each leftover; the strings live for the call. `done` is 1 if it was finished or removed. A status
 * other than TAILRACE_OK is the reason why handling it failed. */
typedef void (*tailrace_recover_callback)(void* context, const char* file, tailrace_leftover kind, int done,
                                          tailrace_status status, const char* message);

/* Searches `directory` for files that a crash left. With `apply` 0 it only lists them; otherwise it publishes
 * complete files and removes incomplete ones and stale locks. It never touches files of running clients. */
TAILRACE_API tailrace_status tailrace_recover(const char* directory, int apply, tailrace_recover_callback callback,
                                              void* context);

/* Waits until the node's server (place `core`) has written what that process of this user handed over before it
 * ended, for `patience` seconds at most: then returns TAILRACE_TIMEOUT. Returns at once if the process lives, if
 * nothing is left, or if the server has ended, too. A program that goes on with the files of a process that may have
 * died calls it first. Any thread may call; needs no client. */
TAILRACE_API tailrace_status tailrace_wait_for_departed(int process, double patience);

/* ---- before a signal ends the process ----------------------------------------------------------------- */

typedef void (*tailrace_drain_callback)(void* context);

/* Lets `drain(context)` run when a signal is about to end the process: SIGHUP, SIGINT, SIGTERM, SIGXCPU, SIGXFSZ,
 * SIGUSR1, SIGUSR2, SIGALRM or SIGPIPE, where the program has set no action for it. It runs on a thread of its own
 * while the program goes on. Then, or after `patience` seconds, the signal ends the process as it would have; 0 means
 * the longest `place.patience` of the clients that the process has opened (600 s if it has opened none). Where the
 * program sets an action later, that one replaces tailrace's. A forked child has to call it again.
 * (Configurations have `on_signal: drain` for a client.) */
TAILRACE_API tailrace_status tailrace_drain_at_signals(tailrace_drain_callback drain, void* context, double patience);

/* Runs all these now, and waits for them as long: before the process ends by other means. */
TAILRACE_API tailrace_status tailrace_drain_now(void);

#ifdef __cplusplus
}
#endif

#endif /* TAILRACE_TAILRACE_H */
