// Linked, with -rdynamic, into programs whose files are compared byte by byte: HDF5 notes the time at which a dataset
// is created, and this function takes the place of HDF5's own.
#include <time.h>

time_t H5_now(void);

time_t H5_now(void) { return 1000000000; }
