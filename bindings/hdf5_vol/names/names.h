/* What the library libtailrace_hdf5_names.so tells the HDF5 connector. It is preloaded with `close=detach`, and is in
 * front of the C library's calls that depend on files being whole: that change a name, open a file, or start a
 * program.
 */
#ifndef TAILRACE_HDF5_NAMES_H
#define TAILRACE_HDF5_NAMES_H

#ifdef __cplusplus
extern "C" {
#endif

enum tailrace_call {
  TAILRACE_CALL_MOVES, /* gives the file `name` another name */
  TAILRACE_CALL_REMOVES,
  TAILRACE_CALL_OPENS,
  TAILRACE_CALL_STARTS /* starts a program; there is no name */
};

/* Is called before such a call, on its thread. `name` is relative to `directory`, a descriptor or AT_FDCWD. Returns 0
 * if the call may go on, or the errno with which it fails. */
typedef int (*tailrace_before_call)(enum tailrace_call call, int directory, const char* name);

/* Sets the function. The connector finds this function by its name: tailrace_hdf5_watch. */
void tailrace_hdf5_watch(tailrace_before_call before);

#ifdef __cplusplus
}
#endif

#endif
