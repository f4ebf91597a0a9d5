/* A simulation that writes its field after each step, by plain HDF5: it knows nothing of tailrace.
 *
 *   h5cc simulation.c -o simulation && tailrace run -- ./simulation field.h5 */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>

enum { NX = 32, NY = 128, NZ = 128, STEPS = 4 };

static double temperature[NX][NY][NZ];

/* Ends the program if a call of HDF5 failed: its result is then negative, and HDF5 has printed the reason. */
static hid_t check(hid_t result) {
  if (result < 0) exit(1);
  return result;
}

static void compute(int step) {
  double* const cell = &temperature[0][0][0];
  for (int i = 0; i < NX * NY * NZ; ++i) cell[i] = 1000.0 * step + i;
}

static void write_attribute(hid_t object, const char* name, double value) {
  const hid_t space = check(H5Screate(H5S_SCALAR));
  const hid_t attribute = check(H5Acreate2(object, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT));
  check(H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value));
  check(H5Aclose(attribute));
  check(H5Sclose(space));
}

static void write_step(hid_t file, int step) {
  const hsize_t shape[] = {NX, NY, NZ};
  char name[32];
  snprintf(name, sizeof name, "step%d", step);
  const hid_t group = check(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  const hid_t space = check(H5Screate_simple(3, shape, NULL));
  const hid_t field =
      check(H5Dcreate2(group, "temperature", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  write_attribute(group, "time", 0.1 * step);
  check(H5Dwrite(field, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, temperature));
  check(H5Dclose(field));
  check(H5Sclose(space));
  check(H5Gclose(group));
}

int main(int count, char** arguments) {
  const hid_t file = check(H5Fcreate(count > 1 ? arguments[1] : "field.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  for (int step = 0; step < STEPS; ++step) {
    compute(step);
    write_step(file, step);
    if (step % 2 == 1) check(H5Fflush(file, H5F_SCOPE_GLOBAL)); /* from here on safe, whatever happens to us */
  }
  check(H5Fclose(file));
  return 0;
}
