// Callbacks of requests: an event set's questions about its writes. HDF5 holds requests as it holds our objects.
#include "hdf5_vol/callbacks/callbacks.hpp"
#include "hdf5_vol/data/object.hpp"
#include "hdf5_vol/files/request.hpp"

namespace tailrace::hdf5 {
namespace {

herr_t request_wait(void* pointer, uint64_t timeout, H5VL_request_status_t* status) {
  *status = object_at(pointer).request->wait(timeout);
  return 0;
}

// HDF5's event sets do not call this.
herr_t request_notify(void*, H5VL_request_notify_t, void*) { return -1; }

// Cancels nothing: writes that were handed over cannot be stopped.
herr_t request_cancel(void* pointer, H5VL_request_status_t* status) {
  *status = object_at(pointer).request->wait(0);
  if (*status == H5VL_REQUEST_STATUS_IN_PROGRESS) *status = H5VL_REQUEST_STATUS_CANT_CANCEL;
  return 0;
}

herr_t request_specific(void* pointer, H5VL_request_specific_args_t* arguments) {
  const Request& request = *object_at(pointer).request;
  if (arguments->op_type == H5VL_REQUEST_GET_ERR_STACK) {
    arguments->args.get_err_stack.err_stack_id = request.error_stack();
    return arguments->args.get_err_stack.err_stack_id < 0 ? -1 : 0;
  }
  request.execution(arguments->args.get_exec_time.exec_ts, arguments->args.get_exec_time.exec_time);
  return 0;
}

herr_t request_optional(void*, H5VL_optional_args_t*) { return -1; }

herr_t request_free(void* pointer) {
  unwrap(pointer);
  return 0;
}

}  // namespace

const H5VL_request_class_t request_callbacks = {request_wait,     request_notify,   request_cancel,
                                                request_specific, request_optional, request_free};

}  // namespace tailrace::hdf5
