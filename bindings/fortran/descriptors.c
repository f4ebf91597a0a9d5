/* descriptors: the verbs of tailrace.h that take an array, for arrays as Fortran describes them.
 *
 * It sits between tailrace.f90, whose arrays are assumed-rank (`type(*), dimension(..)`), and the C interface. It
 * reads type, rank, extents and address from the descriptor, and reverses the dimensions, since Fortran's first
 * dimension is C's last. tailrace_expect checks the array. */
#include <ISO_Fortran_binding.h>
#include <stddef.h>
#include <stdint.h>
#include <tailrace/tailrace.h>

/* What is wrong with a Fortran array that the C interface cannot know of; kept in step with tailrace.f90. */
enum { NOT_CONTIGUOUS = -1, NO_ELEMENT_TYPE = -2 };

int tailrace_fortran_write(tailrace_client* client, const char* variable, int64_t iteration, const CFI_cdesc_t* data);
int tailrace_fortran_borrow(tailrace_client* client, const char* variable, int64_t iteration, const CFI_cdesc_t* data,
                            tailrace_ticket* ticket);
int tailrace_fortran_read(tailrace_client* client, const char* variable, int64_t iteration, const CFI_cdesc_t* data);
int tailrace_fortran_alloc(tailrace_client* client, const char* variable, int64_t iteration, CFI_cdesc_t* pointer);
int tailrace_fortran_attribute(tailrace_client* client, const char* variable, int64_t iteration, const char* name,
                               const CFI_cdesc_t* value);

/* Returns the element type, or 0 for one that no variable has. Integers are recognised by their size, since Fortran's
 * kinds are not C's names. GFortran's assumed type does not distinguish long double from quadruple precision, which
 * has the same size, and reports the latter. So long double comes here only with its type declared. */
static tailrace_type type_of(const CFI_cdesc_t* data) {
  const size_t size = data->elem_len;
  if (data->type == CFI_type_float) return TAILRACE_FLOAT32;
  if (data->type == CFI_type_double) return TAILRACE_FLOAT64;
  if (data->type == CFI_type_long_double) return TAILRACE_LONG_DOUBLE;
  if (data->type == CFI_type_float_Complex) return TAILRACE_COMPLEX64;
  if (data->type == CFI_type_double_Complex) return TAILRACE_COMPLEX128;
  if ((data->type & CFI_type_mask) == CFI_type_Logical && size == 1) return TAILRACE_BOOL;
  if ((data->type & CFI_type_mask) != CFI_type_Integer) return (tailrace_type)0;
  return size == 1   ? TAILRACE_INT8
         : size == 2 ? TAILRACE_INT16
         : size == 4 ? TAILRACE_INT32
         : size == 8 ? TAILRACE_INT64
                     : (tailrace_type)0;
}

/* Returns the type as which the array is the variable. Fortran has no unsigned integers and no halves: integers of
 * their size have their bits. */
static tailrace_type type_for(tailrace_client* client, const char* variable, const CFI_cdesc_t* data) {
  const tailrace_type type = type_of(data);
  if (type < TAILRACE_INT8 || type > TAILRACE_INT64) return type;
  tailrace_variable_info info = {.struct_size = sizeof info};
  if (tailrace_variable(client, variable, &info) != TAILRACE_OK) return type;
  const int has_sign = TAILRACE_UINT8 - TAILRACE_INT8;
  const int is_half = type == TAILRACE_INT16 && info.type == TAILRACE_FLOAT16;
  return is_half || (int)info.type == (int)type + has_sign ? info.type : type;
}

/* Zero, or why this array cannot be that variable. */
static int expect(tailrace_client* client, const char* variable, const CFI_cdesc_t* data) {
  uint64_t shape[CFI_MAX_RANK] = {0};
  const int rank = data->rank;
  for (int i = 0; i < rank; ++i) shape[i] = (uint64_t)data->dim[rank - 1 - i].extent;
  const tailrace_type type = type_for(client, variable, data);
  if (!type) return NO_ELEMENT_TYPE;
  const tailrace_status status = tailrace_expect(client, variable, type, rank, shape);
  if (status != TAILRACE_OK) return (int)status;
  return CFI_is_contiguous(data) ? 0 : NOT_CONTIGUOUS;
}

int tailrace_fortran_write(tailrace_client* client, const char* variable, int64_t iteration,
                           const CFI_cdesc_t* data) {
  const int status = expect(client, variable, data);
  return status ? status : (int)tailrace_write(client, variable, iteration, data->base_addr);
}

int tailrace_fortran_borrow(tailrace_client* client, const char* variable, int64_t iteration, const CFI_cdesc_t* data,
                            tailrace_ticket* ticket) {
  *ticket = (tailrace_ticket){0};
  const int status = expect(client, variable, data);
  return status ? status : (int)tailrace_borrow(client, variable, iteration, data->base_addr, ticket);
}

int tailrace_fortran_read(tailrace_client* client, const char* variable, int64_t iteration, const CFI_cdesc_t* data) {
  const int status = expect(client, variable, data);
  return status ? status : (int)tailrace_read(client, variable, iteration, data->base_addr);
}

int tailrace_fortran_attribute(tailrace_client* client, const char* variable, int64_t iteration, const char* name,
                               const CFI_cdesc_t* value) {
  size_t count = 1;
  for (int i = 0; i < value->rank; ++i) count *= (size_t)value->dim[i].extent;
  if (!CFI_is_contiguous(value)) return NOT_CONTIGUOUS;
  return (int)tailrace_attribute(client, variable, iteration, name, type_of(value), count, value->base_addr);
}

/* Points `pointer` at the memory, with lower bounds of 1; leaves it disassociated on failure. */
int tailrace_fortran_alloc(tailrace_client* client, const char* variable, int64_t iteration, CFI_cdesc_t* pointer) {
  CFI_setpointer(pointer, NULL, NULL);
  tailrace_variable_info info = {.struct_size = sizeof info};
  tailrace_status status = tailrace_variable(client, variable, &info);
  if (status != TAILRACE_OK) return (int)status;
  /* The pointer supplies type and rank, the variable the extents. If the pointer's rank is too high, the remaining
   * extents are zeros, which tailrace_expect refuses. */
  uint64_t shape[CFI_MAX_RANK] = {0};
  for (int i = 0; i < info.rank; ++i) shape[i] = info.shape[i];
  status = tailrace_expect(client, variable, type_for(client, variable, pointer), pointer->rank, shape);
  if (status != TAILRACE_OK) return (int)status;

  void* data = NULL;
  status = tailrace_alloc(client, variable, iteration, &data);
  if (!data) return (int)status;
  CFI_CDESC_T(TAILRACE_MAX_RANK) block;
  CFI_index_t extents[TAILRACE_MAX_RANK], lower[TAILRACE_MAX_RANK];
  for (int i = 0; i < info.rank; ++i) {
    extents[i] = (CFI_index_t)info.shape[info.rank - 1 - i];
    lower[i] = 1;
  }
  CFI_establish((CFI_cdesc_t*)&block, data, CFI_attribute_pointer, pointer->type, pointer->elem_len,
                (CFI_rank_t)info.rank, extents);
  CFI_setpointer(pointer, (CFI_cdesc_t*)&block, lower);
  return (int)status;
}
