/* tailrace.h: the C interface of tailrace, and its only stable ABI.
 *
 * tailrace carries a program's output off its critical path: the program hands blocks of bytes over and computes
 * on; a writer takes them to openPMD/HDF5 files. Every other language binding is written on this header alone.
 *
 * Conventions, for every call:
 *  1. It returns a tailrace_status; out-parameters come last and are written only where their call says so.
 *  2. A status other than TAILRACE_OK is explained by tailrace_last_error() of the same client, or, where there
 *     is no client yet (open, check, recover), by tailrace_last_error(NULL, …) on the same thread.
 *  3. Nothing is lost in silence. A request that was accepted and fails later is reported (a) by its ticket,
 *     (b) by the next call of its client, of any kind, which returns TAILRACE_EARLIER_FAILURE, and (c) by
 *     tailrace_close, until one of them has told you. A call that returns TAILRACE_EARLIER_FAILURE *has been
 *     carried out*: do not repeat it. If the call itself fails, its own status comes first, and the earlier
 *     failure waits for the call after.
 *  4. A client handle may be used by one thread at a time (any thread; a second one inside at the same moment
 *     is refused with TAILRACE_BUSY). Different clients are independent of each other.
 *  5. Arrays are in C order (last dimension fastest), in the machine's byte order, dense. Sizes are in bytes.
 *  6. Strings are UTF-8, ended by NUL, and borrowed for the call; strings handed out live as long as said there.
 *  7. Structures that may grow begin with `struct_size`: set it to sizeof of the structure before the call.
 *  8. No call throws, aborts on bad input, raises a signal, forks, or needs MPI or an environment variable.
 *  9. A handle, and its tickets and files, belong to the process that opened it. In a child of fork() each call
 *     returns TAILRACE_FORKED, at once, and does nothing, close included; nothing need be closed there. Memory from
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
#define TAILRACE_MAX_RANK 4

/* What a call has to say, grouped by what was lost. */
typedef enum tailrace_status {
  TAILRACE_OK = 0,

  /* 1xx: this call was refused; nothing else is affected. */
  TAILRACE_INVALID_ARGUMENT = 101, /* a NULL or out-of-range argument */
  TAILRACE_INVALID_CONFIG = 102,   /* the configuration is wrong: the message says file, line, key */
  TAILRACE_UNKNOWN_VARIABLE = 103, /* not declared in the configuration */
  TAILRACE_WRONG_TYPE = 104,       /* the element type is not the declared one */
  TAILRACE_WRONG_SHAPE = 105,      /* rank or extents are not those of the layout, or cannot be */
  TAILRACE_WRONG_ORDER = 106,      /* e.g. a block for an iteration that has ended, a commit without an alloc */
  TAILRACE_TOO_LARGE = 107,        /* the block can never fit into the memory budget */
  TAILRACE_BUDGET_HELD = 108,      /* the budget is held by the caller's own blocks that it has not committed */
  TAILRACE_NOT_FOUND = 109,        /* no such block to read, or no such file or directory to work on */
  TAILRACE_CLIENT_IN_USE = 110,    /* another open handle, here or in another process, is this client */
  TAILRACE_CLOSED = 111,           /* the handle has been closed */
  TAILRACE_BUSY = 112,             /* another thread is inside a call of this client */
  TAILRACE_UNSUPPORTED = 113,      /* valid, but this build or machine cannot do it */
  TAILRACE_EXISTS = 114,           /* files of an earlier run are there, and `storage.existing` is refuse */
  TAILRACE_FORKED = 115,           /* the handle belongs to the process that opened it; this one is a child of that */

  /* 2xx: not an error of the caller's: the state of things. */
  TAILRACE_TIMEOUT = 201,         /* not ended within the time given; the request goes on */
  TAILRACE_DROPPED = 202,         /* `when_full: drop` gave up this whole iteration; its blocks are not written */
  TAILRACE_ACTION_FAILED = 203,   /* an action has failed and is disabled; the data are stored all the same */
  TAILRACE_CLIENTS_MISSING = 204, /* clients that `place.clients` counts never came: files lack their parts */

  /* 3xx: data were lost, or may have been. */
  TAILRACE_IO_ERROR = 301,        /* the operating system said no: see `system_errno` */
  TAILRACE_EARLIER_FAILURE = 302, /* this call was carried out; a request accepted earlier has failed */
  TAILRACE_NOT_PUBLISHED = 303,   /* a file was not published since something it depends on failed */
  TAILRACE_SERVER_LOST = 304,     /* the node's server has died and none has taken its place */

  /* 4xx: tailrace itself cannot go on. */
  TAILRACE_OUT_OF_MEMORY = 401, /* the system gave less memory than the budget asks for */
  TAILRACE_INTERNAL = 402       /* a defect of tailrace: please report it */
} tailrace_status;

/* Element types, the C types of the same names. */
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
  TAILRACE_LONG_DOUBLE
} tailrace_type;

/* One process (or thread) of the application, with an identity of its own. Opened by tailrace_open, ended by
 * tailrace_close. A closed handle stays recognisable: using it returns TAILRACE_CLOSED. */
typedef struct tailrace_client tailrace_client;

/* A handle on one request, to wait on and to learn its end from. A plain value: copy it, forget it; there is
 * nothing to free. It is good until its client is closed. A zeroed ticket has ended. */
typedef struct tailrace_ticket {
  tailrace_client* client;
  uint64_t id;
} tailrace_ticket;

/* A raw file that a client has open: any file, in the program's own format. A plain value, as a ticket is. It is used
 * by one thread at a time with its client. */
typedef struct tailrace_file {
  tailrace_client* client;
  uint64_t id;
} tailrace_file;

/* How to open one; see tailrace_file_open. */
typedef enum tailrace_file_mode {
  TAILRACE_FILE_READ = 1,
  TAILRACE_FILE_WRITE = 2,
  TAILRACE_FILE_TRUNCATE = 4,  /* with TAILRACE_FILE_WRITE: empties it */
  TAILRACE_FILE_IMMEDIATE = 8, /* with TAILRACE_FILE_WRITE: its writes do not gather to be merged with later ones */
  TAILRACE_FILE_PUBLISH = 16,  /* with TAILRACE_FILE_WRITE: it has its name when it is whole */
  TAILRACE_FILE_SEAL = 32      /* with TAILRACE_FILE_WRITE: its last bytes are written when it is whole */
} tailrace_file_mode;

/* `length` bytes of a file, from `offset` on; they end at 2^62 at most. */
typedef struct tailrace_extent {
  uint64_t offset;
  uint64_t length;
} tailrace_extent;

/* Memory from tailrace_alloc_kept; ended by tailrace_release. */
typedef struct tailrace_memory tailrace_memory;

/* Everything that is known about a failure. The strings live until the next failing call on the same client
 * (for client NULL: on the same thread); "" where they do not apply. */
typedef struct tailrace_error {
  size_t struct_size;
  tailrace_status status; /* the cause: never TAILRACE_EARLIER_FAILURE */
  int earlier;            /* 1: of a request accepted earlier; 0: of the call itself */
  int system_errno;       /* errno of the operating system, or 0 */
  int64_t iteration;      /* -1 where it does not apply */
  uint64_t more;          /* further failures that no call has told yet; tailrace_next_error tells them */
  const char* operation;  /* "write", "open", "publish", … */
  const char* file;
  const char* variable;
  const char* message; /* one sentence or more, readable by itself */
} tailrace_error;

/* A declared variable, as this client writes it at present. */
typedef struct tailrace_variable_info {
  size_t struct_size;
  tailrace_type type;
  int rank;                          /* 1 … TAILRACE_MAX_RANK */
  uint64_t shape[TAILRACE_MAX_RANK]; /* elements, slowest dimension first; unused ones are 0 */
  uint64_t bytes;                    /* size of one block */
} tailrace_variable_info;

/* A parameter of the configuration, given by the program (a grid size known only at run time). */
typedef struct tailrace_parameter {
  const char* name;
  int64_t value;
} tailrace_parameter;

/* What tailrace_open_with can be told beyond the file. Zero (NULL) means the default. */
typedef struct tailrace_open_options {
  size_t struct_size;
  const char* config_text; /* the YAML itself, instead of a file; `config` then only names it in messages */
  const char* path;        /* replaces `storage.path`: the output directory */
  const tailrace_parameter* parameters; /* replace or add to `parameters:` */
  size_t parameter_count;
  const char*
      python_environment; /* folder (Python's sys.prefix) whose packages Python actions see, if the configuration
                             has no `python.environment` and it is of the right version of Python */
  const char* files;      /* replaces `storage.files`: the directory below which raw files lie */
  int flush_waits;        /* 1: a configuration with which flush waits for nothing (`storage.durability: accepted`) is
                             refused, since the program relies on it */
} tailrace_open_options;

/* What a client has done so far. Counters only grow; times are in seconds. */
typedef struct tailrace_stats {
  size_t struct_size;
  uint64_t blocks_accepted;        /* write, commit and borrow calls that were accepted */
  uint64_t blocks_written;         /* … and whose bytes have reached storage */
  uint64_t blocks_failed;          /* … and that could not be written */
  uint64_t blocks_dropped;         /* refused or discarded with their iteration by `when_full: drop` */
  uint64_t blocks_written_through; /* written from the caller's memory while it waited: `when_full: sync` */
  uint64_t bytes_accepted;
  uint64_t bytes_written;
  uint64_t iterations_ended;
  uint64_t iterations_published; /* files renamed to their final name */
  uint64_t iterations_dropped;
  uint64_t iterations_failed;    /* ended, but not published */
  uint64_t signals;              /* signals recorded */
  uint64_t failures;             /* all failures of accepted requests */
  uint64_t failures_unseen;      /* … that no call has told yet */
  uint64_t memory_budget;        /* bytes */
  uint64_t memory_held;          /* bytes of the budget in use now; a moment longer than requests are pending */
  uint64_t memory_peak;          /* bytes, the most ever in use; never above the budget */
  double seconds_copying;        /* in `write`, copying into the pool */
  double seconds_waiting_memory; /* in write and alloc, waiting for memory or for room in the queue */
  double seconds_waiting_ticket; /* in wait, flush, read and close */
  double seconds_writing;        /* engine: time with at least one transfer under way */
  uint64_t requests_merged;      /* requests of the engine that went to storage together with others */
  uint64_t requests_peak;        /* the most requests at once that had not ended */
  uint64_t transfers;            /* reads, writes and syncs given to the system */
  uint64_t transfers_direct;     /* … past the page cache */
  uint64_t transfers_again;      /* … that ended short or interrupted, and were continued */
  uint64_t transfer_fallbacks;   /* … that were refused past the page cache, and sent through it */
  uint64_t accesses;             /* of storage, into which pieces of requests were merged */
  uint64_t bytes_overwritten;    /* never written, since a later write of the same client had them */
  uint64_t bytes_from_memory;    /* of reads, that came from pending writes and not from storage */
  uint64_t bytes_sieved;         /* read for nothing: holes between bytes that reads wanted */
  uint64_t iterations_limit;     /* how many iterations may be unfinished at once: begun and not yet published */
  uint64_t iterations_peak;      /* the most that ever were */
} tailrace_stats;

/* How long something took, each time it happened. In seconds; all 0 if it never did. The percentiles are taken from
 * a histogram and may be a quarter too high, never too low. */
typedef struct tailrace_times {
  uint64_t count;
  double total;
  double mean;
  double p50;
  double p90;
  double p99;
  double most;
} tailrace_times;

/* What a client has done so far with one variable. Counters only grow. A block is `queued` from its hand-over until
 * its first transfer begins, and `writing` from there until it is written or has failed. */
typedef struct tailrace_variable_stats {
  size_t struct_size;
  uint64_t blocks_accepted;
  uint64_t blocks_written;
  uint64_t blocks_failed;
  uint64_t blocks_refused;         /* their iteration was dropped by `when_full: drop` before they came */
  uint64_t blocks_written_through; /* `when_full: sync` */
  uint64_t blocks_merged;          /* went to storage together with others */
  uint64_t bytes_accepted;
  uint64_t bytes_written;
  tailrace_times handover; /* of the caller, a block: in write, in alloc and commit, or in borrow */
  tailrace_times waiting;  /* of the caller: in wait, while the request had not ended, and in read */
  tailrace_times queued;
  tailrace_times writing;
  /* Variables with `compress` or `precision` alone: */
  uint64_t chunks_filtered;
  uint64_t chunks_relaxed;  /* … by the fastest level, as there was not the time for the one that was asked for */
  uint64_t chunks_skipped;  /* … and not compressed, as there was not even the time for that */
  uint64_t bytes_filtered;  /* of these chunks, before */
  uint64_t bytes_stored;    /* … and after */
  tailrace_times filtering; /* of a block: all of its chunks, one after the other */
  /* Of 128 KiB and more, in files that can be written past the page cache: those that went through it, in whole or in
   * part, since the system refused, or as they consist of pieces that are too short for it. */
  uint64_t blocks_cached;
} tailrace_variable_stats;

/* How long things were, in bytes. */
typedef struct tailrace_sizes {
  uint64_t count;
  uint64_t bytes; /* of all together */
  uint64_t most;
  uint64_t buckets[48]; /* [i]: how many of 2^i bytes or more, and less than 2^(i+1); the last has all longer ones */
} tailrace_sizes;

/* What has become of requests for one file. Counters only grow. The first members are of this client's calls. The
 * others are of the writer: of what it did with the file while this client had it open, for whichever client. */
typedef struct tailrace_file_stats {
  size_t struct_size;
  uint64_t writes; /* tailrace_file_write that were accepted */
  uint64_t bytes_written;
  uint64_t reads;
  uint64_t bytes_read;
  tailrace_times handover;    /* of the caller, in tailrace_file_write */
  tailrace_times waiting;     /* of the caller, in tailrace_file_read, _sync and _close */
  uint64_t requests_merged;   /* went to storage together with others */
  uint64_t bytes_overwritten; /* never written, since a later write of the same client had them */
  uint64_t bytes_from_memory; /* of reads, that came from pending writes and not from storage */
  tailrace_sizes before;      /* extents of requests, as far as they have begun */
  tailrace_sizes after;       /* accesses of storage that they were merged into */
  uint64_t bytes_sieved;      /* read for nothing: holes between bytes that reads wanted */
} tailrace_file_stats;

/* ---- opening and closing ------------------------------------------------------------------------------ */

/* Opens client `client` (0 or more; usually the MPI rank) by the configuration file `config`, checks the whole
 * of it, takes the memory budget and starts the writer. Fails with TAILRACE_INVALID_CONFIG, TAILRACE_IO_ERROR
 * (no such file, directory not writable), TAILRACE_CLIENT_IN_USE, TAILRACE_OUT_OF_MEMORY. `*out` is the handle,
 * or NULL on failure. */
TAILRACE_API tailrace_status tailrace_open(const char* config, int client, tailrace_client** out);

/* The same, with options. `options` may be NULL. Everything it points to is copied. */
TAILRACE_API tailrace_status tailrace_open_with(const char* config, int client, const tailrace_open_options* options,
                                                tailrace_client** out);

/* Waits until everything accepted has ended, stops the writer and gives the memory back. Iterations that were
 * not ended are left unpublished (`.part`) and reported. Writes the files that the configuration's `measurements` ask
 * for. Returns TAILRACE_EARLIER_FAILURE if failures were not yet told: the first one is the last error, `more` is the
 * number of the others, which tailrace_next_error tells, and the log has all. The client is closed all the same. */
TAILRACE_API tailrace_status tailrace_close(tailrace_client* client);

/* ---- handing blocks over ------------------------------------------------------------------------------ */

/* Takes a copy of one block, `info.bytes` long (NULL will do if that is 0), and returns: one copy, no I/O. When the
 * budget is full it blocks, writes through, or drops the iteration (TAILRACE_DROPPED), as `memory.when_full` says.
 * `data` is the caller's again when the call returns.
 *
 * This holds for every verb that begins an iteration (write, alloc, borrow, signal, and end_iteration where clients
 * share files): if `iterations_limit` (tailrace_stats) are unfinished, it blocks until one is published (`block` and
 * `sync`), or drops the new iteration. TAILRACE_WRONG_ORDER if the caller has not ended any of them. */
TAILRACE_API tailrace_status tailrace_write(tailrace_client* client, const char* variable, int64_t iteration,
                                            const void* data);

/* Hands out memory of the pool, `info.bytes` long and aligned to a cache line (a page, for blocks of a page
 * and more), to build the block in: no copy. It is the caller's until tailrace_commit. A second alloc before
 * the commit returns the same memory. `when_full: sync` blocks here, as there are no bytes to write yet.
 * `*data` is set on TAILRACE_OK and TAILRACE_EARLIER_FAILURE, else NULL. */
TAILRACE_API tailrace_status tailrace_alloc(tailrace_client* client, const char* variable, int64_t iteration,
                                            void** data);

/* The same for callers that cannot say when the memory is looked at last, such as bindings whose arrays are
 * collected: until tailrace_release(*memory), the memory stays where it is with what it holds, and is nobody else's,
 * also after commit (from then on it must only be read), after the end of a dropped iteration, and after close. It is
 * part of the budget until then: if there is no room and nothing but such memory and blocks not committed takes it,
 * the call returns TAILRACE_BUDGET_HELD. A second call before the commit gives the same memory, which is kept until
 * both have been released. Both out-parameters are set on TAILRACE_OK and TAILRACE_EARLIER_FAILURE, else NULL. */
TAILRACE_API tailrace_status tailrace_alloc_kept(tailrace_client* client, const char* variable, int64_t iteration,
                                                 void** data, tailrace_memory** memory);

/* Ends the keeping of `memory`, once; NULL does nothing. Any thread, at any time, also while another one is inside a
 * call of the client, after close, and in a child of fork(), where it does nothing to the parent's. */
TAILRACE_API void tailrace_release(tailrace_memory* memory);

/* Hands the allocated block over. The memory must not be touched any more. */
TAILRACE_API tailrace_status tailrace_commit(tailrace_client* client, const char* variable, int64_t iteration);

/* Lends the caller's own memory, at any address: the call copies nothing, and takes nothing of the budget. `data`
 * must stay valid and unchanged until the ticket has ended (tailrace_wait or tailrace_test says so, or close has
 * returned, or flush, if it waits at all: it does not with `storage.durability: accepted`). `*ticket` is set on
 * TAILRACE_OK and TAILRACE_EARLIER_FAILURE, else zeroed. */
TAILRACE_API tailrace_status tailrace_borrow(tailrace_client* client, const char* variable, int64_t iteration,
                                             const void* data, tailrace_ticket* ticket);

/* Says that the client hands over nothing more for `iteration`: its file is completed and published in the
 * background. Returns at once, if the iteration has begun. An iteration of which nothing was handed over has nothing
 * to publish; ending one again does nothing. */
TAILRACE_API tailrace_status tailrace_end_iteration(tailrace_client* client, int64_t iteration);

/* Raises the event `event` of `iteration`: it is recorded in the iteration's file, and in place `core` the actions
 * run that the configuration binds to it. Returns at once, if the iteration has begun; actions that fail are told as
 * earlier failures. */
TAILRACE_API tailrace_status tailrace_signal(tailrace_client* client, const char* event, int64_t iteration);

/* ---- changes while the program runs ------------------------------------------------------------------- */

/* Gives parameters of the configuration new values, all together. Shapes, global shapes and offsets that name them
 * follow, for the blocks that are handed over, allocated and read from now on: so an array may have another length in
 * each iteration, and 0 is one. (Other keys keep the values of open.) A call that is refused changes nothing:
 * TAILRACE_INVALID_ARGUMENT (no such parameter, or `client`), TAILRACE_WRONG_SHAPE (a layout would be wrong),
 * TAILRACE_TOO_LARGE (a block would not fit into the budget), TAILRACE_WRONG_ORDER (a block whose layout would change
 * is allocated and not committed). */
TAILRACE_API tailrace_status tailrace_set_parameters(tailrace_client* client, const tailrace_parameter* parameters,
                                                     size_t count);

/* Switches a variable on (1) or off (0), from the next call on. Of one that is off, write, borrow and commit do
 * nothing and return TAILRACE_OK (with an empty ticket), and alloc gives memory all the same; its blocks are in no
 * file. At open, `variables.<name>.enabled` says. */
TAILRACE_API tailrace_status tailrace_enable(tailrace_client* client, const char* variable, int on);

/* ---- waiting and reading ------------------------------------------------------------------------------ */

/* Waits until the request has ended, at most `timeout_ms` milliseconds (-1: for ever). TAILRACE_OK: written,
 * the memory is the caller's again. TAILRACE_TIMEOUT: not yet. Otherwise why it failed (the memory is the
 * caller's again, too). A ticket may be waited for more than once. */
TAILRACE_API tailrace_status tailrace_wait(tailrace_ticket ticket, int64_t timeout_ms);

/* Like tailrace_wait with no time to wait; `*ended` is 1 if the request has ended, else 0. */
TAILRACE_API tailrace_status tailrace_test(tailrace_ticket ticket, int* ended);

/* Waits until everything this client handed over has ended as `storage.durability` asks: accepted (returns at
 * once), written (all bytes written, ended iterations published) or durable (and those synced to the device). */
TAILRACE_API tailrace_status tailrace_flush(tailrace_client* client);

/* The same without waiting: the ticket ends when everything handed over before this call has ended (also with
 * `accepted`), and says nothing of how: failures are told as ever (convention 3). Nothing is held back any more to be
 * merged until then. `*ticket` is set on TAILRACE_OK and TAILRACE_EARLIER_FAILURE, else zeroed. */
TAILRACE_API tailrace_status tailrace_iflush(tailrace_client* client, tailrace_ticket* ticket);

/* Reads one block that this client wrote, `info.bytes` long, into `data`, and waits for it. Sees every earlier
 * write of this client, published or not. TAILRACE_NOT_FOUND if there is no such block, TAILRACE_WRONG_SHAPE if it
 * was written with another shape than its layout has now. */
TAILRACE_API tailrace_status tailrace_read(tailrace_client* client, const char* variable, int64_t iteration,
                                           void* data);

/* ---- raw files ---------------------------------------------------------------------------------------- */

/* Opens the file `path`, which is relative to the first directory of `storage.files` (or else the first
 * `storage.path`), or absolute and below any of them, and stays there: no "..", and no symbolic link on its way; its
 * directory must be there. `mode` is TAILRACE_FILE_READ (the file must be there), or TAILRACE_FILE_WRITE: to read and
 * write; it is made if it is not there, and what is in it stays, unless TAILRACE_FILE_TRUNCATE is added. Clients of
 * one server (place `core`) that open the same path have the same file; one that is open anywhere there cannot be
 * truncated (TAILRACE_WRONG_ORDER). With TAILRACE_FILE_IMMEDIATE added, its writes, and what others write meanwhile,
 * go to storage at once; a program for which that is so of some writes alone opens the file twice, and its order is
 * the same through both. With TAILRACE_FILE_PUBLISH added, what is opened (made, emptied) is `path` with ".partial"
 * behind it. It gets the name `path`, and takes the place of a file of that name, when it has been closed and nothing
 * of it has failed. If something has, or it is never closed, it keeps the name with ".partial", and the close, or
 * else tailrace_close, says so (TAILRACE_NOT_PUBLISHED). With `storage.durability: durable` it is on the device by
 * then, and its name at the end of the close. Neither name may be open elsewhere at the same server, by whichever
 * mode, before the close has ended (TAILRACE_WRONG_ORDER). With TAILRACE_FILE_SEAL added instead, the file has its
 * name all the time, and readers know by its content that it is whole: the last thing that its close does is to write
 * the seal (tailrace_file_seal), if nothing of the file has failed. Else, or if it is never closed, the seal is not
 * written, and the close, or else tailrace_close, says so (TAILRACE_NOT_PUBLISHED). All else is as with
 * TAILRACE_FILE_PUBLISH; with `durable` the data are on the device before the seal is written. As many files may be
 * open as the budget has room for their paths (a cache line and more each) and the server's process may have open
 * (two or three descriptors each); if 64 are being closed (tailrace_file_iclose), the oldest of those is waited for.
 * Waits for the server's answer. TAILRACE_NOT_FOUND if there is none to read, TAILRACE_IO_ERROR if the system
 * refuses. Never returns TAILRACE_EARLIER_FAILURE. `*out` is set on TAILRACE_OK, else zeroed. */
TAILRACE_API tailrace_status tailrace_file_open(tailrace_client* client, const char* path, int mode,
                                                tailrace_file* out);

/* Writes the `count` extents (list I/O). `data` has their bytes, one extent after the other, in the order of the
 * list, which need not be that of the file. Returns when all have been copied into the pool: `data` is the caller's
 * again; a full budget is waited for, whatever `memory.when_full` says. Failures come later, as those of all accepted
 * requests do (convention 3), with operation "file_write" and the file's name; then some of the list may have been
 * written. Writes of one client to the same bytes take effect in their order; those of different clients that overlap
 * do in any. Empty extents are skipped. TAILRACE_INVALID_ARGUMENT, before anything is written: no extents, extents
 * that overlap or end beyond 2^62, NULL for bytes, a file opened for reading. A list that needs more than a fourth of
 * the budget is written in several requests, and a call that fails with another status may have handed over the first
 * of them. */
TAILRACE_API tailrace_status tailrace_file_write(tailrace_file file, size_t count, const tailrace_extent* extents,
                                                 const void* data);

/* The same with a ticket, which ends when all the bytes have been written (tailrace_wait says why if they could not
 * be). The list must fit into a fourth of the budget: TAILRACE_TOO_LARGE if it does not, and then nothing is written.
 * `*ticket` is set on TAILRACE_OK and TAILRACE_EARLIER_FAILURE, else zeroed. */
TAILRACE_API tailrace_status tailrace_file_iwrite(tailrace_file file, size_t count, const tailrace_extent* extents,
                                                  const void* data, tailrace_ticket* ticket);

/* The same without a copy, if that can be: place `thread`, one extent of less than 4 GiB, and a file that the client
 * has not read since it opened it. `data` must stay valid and unchanged until the ticket has ended, as with
 * tailrace_borrow. Otherwise the bytes are copied as tailrace_file_iwrite does it, within its limit. */
TAILRACE_API tailrace_status tailrace_file_borrow(tailrace_file file, size_t count, const tailrace_extent* extents,
                                                  const void* data, tailrace_ticket* ticket);

/* Reads the extents into `data`, one after the other in the order of the list, and waits for it. They may overlap.
 * Sees all earlier writes of this client. Bytes of a hole are 0; TAILRACE_IO_ERROR if the file ends before an extent
 * does, and then `data` may have been written in part. */
TAILRACE_API tailrace_status tailrace_file_read(tailrace_file file, size_t count, const tailrace_extent* extents,
                                                void* data);

/* Waits until all earlier writes of this client to the file are on the device, and the file's name, too. */
TAILRACE_API tailrace_status tailrace_file_sync(tailrace_file file);

/* The length of the file in bytes, after all earlier writes of this client to it. Waits for the server's answer.
 * Never returns TAILRACE_EARLIER_FAILURE. `*bytes` is set on TAILRACE_OK, else 0. */
TAILRACE_API tailrace_status tailrace_file_size(tailrace_file file, uint64_t* bytes);

/* Cuts the file to `bytes`, or makes it that long: new bytes are 0. Takes effect after all earlier writes of this
 * client to the file and before its later ones; what other clients write meanwhile lies before or behind it. Waits
 * for the server's answer. Never returns TAILRACE_EARLIER_FAILURE. TAILRACE_INVALID_ARGUMENT of a file opened for
 * reading, or beyond 2^62; TAILRACE_IO_ERROR if the system refuses, and then the file is as it was. */
TAILRACE_API tailrace_status tailrace_file_truncate(tailrace_file file, uint64_t bytes);

/* Reserves the bytes from `offset` on, so that writing them cannot fail for want of space, and makes the file at
 * least that long, as posix_fallocate does; on a file system that cannot reserve, does nothing. Order and errors are
 * as with tailrace_file_truncate. */
TAILRACE_API tailrace_status tailrace_file_allocate(tailrace_file file, uint64_t offset, uint64_t bytes);

/* Removes the file `path`, which is given as to tailrace_file_open. Waits for the server's answer. Never returns
 * TAILRACE_EARLIER_FAILURE. TAILRACE_WRONG_ORDER if a client of the same server has it open, or its close has yet to
 * end; TAILRACE_NOT_FOUND if there is none; TAILRACE_IO_ERROR if the system refuses. */
TAILRACE_API tailrace_status tailrace_file_remove(tailrace_client* client, const char* path);

/* Waits until all writes of this client to the file have ended, and closes it. As every call it may tell of failures
 * of earlier requests (TAILRACE_EARLIER_FAILURE); the file is closed all the same, and using it returns
 * TAILRACE_CLOSED. Files that are open when their client is closed are closed by that, but not published. */
TAILRACE_API tailrace_status tailrace_file_close(tailrace_file file);

/* The same without waiting, with a ticket that ends when the file is closed, and published if it is to be.
 * tailrace_close waits for it, too. `*ticket` is set on TAILRACE_OK and TAILRACE_EARLIER_FAILURE, else zeroed. */
TAILRACE_API tailrace_status tailrace_file_iclose(tailrace_file file, tailrace_ticket* ticket);

/* Says of a file opened with TAILRACE_FILE_PUBLISH or TAILRACE_FILE_SEAL that it will not be whole: its close leaves
 * it under the name with ".partial", or without its seal, and says so. TAILRACE_INVALID_ARGUMENT of any other file.
 */
TAILRACE_API tailrace_status tailrace_file_give_up(tailrace_file file);

/* Gives the seal of a file opened with TAILRACE_FILE_SEAL, `bytes` (1 to 16) at `offset`; the last call before the
 * close counts. Without one the file is closed as any other. `seal` is copied. Waits for nothing. Never returns
 * TAILRACE_EARLIER_FAILURE. TAILRACE_INVALID_ARGUMENT of any other file. */
TAILRACE_API tailrace_status tailrace_file_seal(tailrace_file file, uint64_t offset, size_t bytes, const void* seal);

/* ---- asking ------------------------------------------------------------------------------------------- */

/* Type, shape and size of a declared variable. Never returns TAILRACE_EARLIER_FAILURE. */
TAILRACE_API tailrace_status tailrace_variable(tailrace_client* client, const char* variable,
                                               tailrace_variable_info* out);

/* States what the caller believes about a variable; fails with TAILRACE_WRONG_TYPE or TAILRACE_WRONG_SHAPE and a
 * message that names both sides. `shape` has `rank` entries, slowest dimension first. The bindings call it
 * before every block, so that a wrong array is never written. Never returns TAILRACE_EARLIER_FAILURE. */
TAILRACE_API tailrace_status tailrace_expect(tailrace_client* client, const char* variable, tailrace_type type,
                                             int rank, const uint64_t* shape);

/* What this client has done so far. Never returns TAILRACE_EARLIER_FAILURE (the counters tell). */
TAILRACE_API tailrace_status tailrace_get_stats(tailrace_client* client, tailrace_stats* out);

/* What this client has done so far with one declared variable. Never returns TAILRACE_EARLIER_FAILURE. */
TAILRACE_API tailrace_status tailrace_get_variable_stats(tailrace_client* client, const char* variable,
                                                         tailrace_variable_stats* out);

/* What has become of requests for the raw file `path`, as this client opened it (the 64 that it opened last), or,
 * for NULL, for the files of iterations, all together. TAILRACE_NOT_FOUND if nothing is known of such a file. Never
 * returns TAILRACE_EARLIER_FAILURE. */
TAILRACE_API tailrace_status tailrace_get_file_stats(tailrace_client* client, const char* path,
                                                     tailrace_file_stats* out);

/* The failure that the last failing call of this client returned; for NULL, of the last failing call without a
 * client on this thread. TAILRACE_OK in `out->status` if there was none. */
TAILRACE_API tailrace_status tailrace_last_error(tailrace_client* client, tailrace_error* out);

/* Tells the oldest failure of an earlier request that no call has told yet, with `earlier` 1, as the next call would;
 * TAILRACE_OK in `out->status` if there is none. After close: those that the close has not told. Call it until there
 * is none to have the causes of all. Its strings live as those of tailrace_last_error. */
TAILRACE_API tailrace_status tailrace_next_error(tailrace_client* client, tailrace_error* out);

/* What the writer is and got, as one line of text ("place thread, pinned to cpu 1 (…); uring, …; pool …"): for
 * logs and reports. Lives as long as the client is open. Never returns TAILRACE_EARLIER_FAILURE. */
TAILRACE_API tailrace_status tailrace_describe(tailrace_client* client, const char** text);

/* A short English name of a status ("wrong type"); never NULL; lives for ever. */
TAILRACE_API const char* tailrace_status_text(tailrace_status status);

/* "0.1.0"; lives for ever. */
TAILRACE_API const char* tailrace_version(void);

/* ---- without a client --------------------------------------------------------------------------------- */

/* Checks a configuration whole, as tailrace_open would, without opening anything. `options` may be NULL. */
TAILRACE_API tailrace_status tailrace_check(const char* config, const tailrace_open_options* options);

/* What a crash left of one file. */
typedef enum tailrace_leftover {
  TAILRACE_COMPLETE = 1,   /* everything was written; only the rename is missing */
  TAILRACE_INCOMPLETE = 2, /* bytes are missing */
  TAILRACE_IN_USE = 3,     /* its client is alive: never touched */
  TAILRACE_STALE_LOCK = 4  /* the lock file of a client that is gone */
} tailrace_leftover;

/* Called for each leftover; the strings live for the call. `done` is 1 if it was finished or removed. A status
 * other than TAILRACE_OK says what went wrong with this one. */
typedef void (*tailrace_recover_callback)(void* context, const char* file, tailrace_leftover kind, int done,
                                          tailrace_status status, const char* message);

/* Looks through `directory` for what a crash left there: with `apply` 0 only lists; otherwise publishes complete
 * files and removes incomplete ones and stale locks. Files of running clients are not touched. */
TAILRACE_API tailrace_status tailrace_recover(const char* directory, int apply, tailrace_recover_callback callback,
                                              void* context);

#ifdef __cplusplus
}
#endif

#endif /* TAILRACE_TAILRACE_H */
