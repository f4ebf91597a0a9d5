// libtailrace_python_host.so: the Python interpreter in the plugin host. See python_host.h.
//
// bootstrap.py does what Python can do; this file does the rest: the interpreter itself, and views of memory.
#define PY_SSIZE_T_CLEAN
#include <patchlevel.h>
// The functions that all Pythons from 3.10 on have: this is linked to none of them (python_function.cpp). The headers
// of 3.10 hide Py_buffer, which is the same there.
#if PY_VERSION_HEX >= 0x030b0000
#define Py_LIMITED_API 0x030b0000
#endif
#include <Python.h>
#include <dlfcn.h>
#include <bootstrap.hpp>  // of bootstrap.py, made by CMake

#include "action/host/python_host.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace {

// An owned reference; empty after an error, which is set in Python.
class Object {
 public:
  Object() = default;
  explicit Object(PyObject* owned) : object_(owned) {}
  Object(Object&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Object& operator=(Object&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Object() { Py_XDECREF(object_); }

  explicit operator bool() const { return object_ != nullptr; }
  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }

 private:
  PyObject* object_ = nullptr;
};

// The module of bootstrap.py, one per interpreter. Null until it is prepared.
PyObject* bootstrap = nullptr;

// The state while no call runs: the interpreter is then free for threads of plugins.
PyThreadState* idle_state = nullptr;

class InUse {
 public:
  InUse() {
    if (idle_state != nullptr) PyEval_RestoreThread(std::exchange(idle_state, nullptr));
  }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;
  ~InUse() {
    if (Py_IsInitialized()) idle_state = PyEval_SaveThread();
  }
};

// Takes the exception that is set and returns its text, which is its own if it is ours.
std::string take_error() {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  const Object owners[] = {Object(type), Object(value), Object(trace)};
  const Object text(value != nullptr ? PyObject_Str(value) : nullptr);
  const char* words = text ? PyUnicode_AsUTF8AndSize(text.get(), nullptr) : nullptr;
  std::string told = words != nullptr ? words : "found an exception that cannot be shown";
  const Object type_name(type != nullptr ? PyObject_GetAttrString(type, "__name__") : nullptr);
  const char* letters = type_name ? PyUnicode_AsUTF8AndSize(type_name.get(), nullptr) : nullptr;
  const std::string name = letters != nullptr ? letters : "";
  if (name.find("Refused") == std::string::npos) told = "found the exception " + name + ": " + told;
  PyErr_Clear();
  return told;
}

// Returns the prefix of the loaded Python: the folder above its library that has lib/python3.N.
std::string home_of_python() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&Py_InitializeEx), &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string version = Py_GetVersion();  // "3.11.2 (main, …"
  const std::string folder = "lib/python" + version.substr(0, version.find('.', version.find('.') + 1));
  std::error_code ignored;
  std::filesystem::path place = std::filesystem::canonical(info.dli_fname, ignored);
  while (place != place.parent_path()) {
    place = place.parent_path();
    if (std::filesystem::exists(place / folder / "os.py", ignored)) return place;
  }
  return {};
}

// bootstrap.py removes these variables again: they are not for programs that a function starts.
std::string start_interpreter() {
  const std::string home = home_of_python();
  if (home.empty()) return "found no Python that starts: its library lies in no folder with its modules";
  setenv("PYTHONHOME", home.c_str(), 1);  // its own modules, whatever `python3` is in the PATH
  setenv("PYTHONUNBUFFERED", "1", 1);     // a crash loses no line …
  setenv("PYTHONFAULTHANDLER", "1", 1);   // … and reports where in Python it was
  unsetenv("PYTHONINSPECT");
  Py_InitializeEx(0);
  return {};
}

// Prepares the interpreter. Returns the error; empty if there is none.
std::string prepare(const char* environment, const char* program) {
  if (bootstrap != nullptr) return {};
  if (!Py_IsInitialized()) {
    std::string why = start_interpreter();
    if (!why.empty()) return why;
  }
  const Object code(Py_CompileString(kBootstrap, "tailrace_plugin_host", Py_file_input));
  if (!code) return take_error();
  Object module(PyImport_ExecCodeModule("tailrace_plugin_host", code.get()));
  if (!module) return take_error();
  const Object done(PyObject_CallMethod(module.get(), "prepare", "ss", environment, program));
  if (!done) return take_error();
  bootstrap = module.release();
  return {};
}

// In the order of tailrace_type. The codes are those of Python's struct module; 'g', 'Zf' and 'Zd' are
// NumPy's.
const char* format_of(int32_t type) {
  constexpr std::array<const char*, 15> formats = {"b", "h", "i", "l", "B", "H",  "I", "L",
                                                   "f", "d", "g", "?", "e", "Zf", "Zd"};
  static_assert(sizeof(long) == 8);
  return formats.at(static_cast<size_t>(type - TAILRACE_INT8));
}

Py_ssize_t size_of(int32_t type) {
  constexpr std::array<Py_ssize_t, 15> sizes = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8, sizeof(long double), 1, 2, 8, 16};
  return sizes.at(static_cast<size_t>(type - TAILRACE_INT8));
}

Object tuple_of(const uint64_t* values, int rank) {
  Object tuple(PyTuple_New(rank));
  for (int i = 0; tuple && i < rank; ++i) {
    PyObject* value = PyLong_FromUnsignedLongLong(values[i]);
    if (value == nullptr) return {};
    PyTuple_SetItem(tuple.get(), i, value);
  }
  return tuple;
}

// Returns a view of the bytes, not a copy. The memory stays mapped for the life of the process, so it has no owner.
Object view_of(const tailrace_plugin_block& block) {
  std::array<Py_ssize_t, TAILRACE_MAX_RANK> shape{};
  std::array<Py_ssize_t, TAILRACE_MAX_RANK> strides{};
  Py_ssize_t stride = size_of(block.type);
  for (int i = block.rank - 1; i >= 0; --i) {
    shape[i] = static_cast<Py_ssize_t>(block.shape[i]);
    strides[i] = stride;
    stride *= shape[i];
  }
  Py_buffer buffer{};
  buffer.buf = const_cast<void*>(block.data);  // read-only, see below
  buffer.readonly = 1;
  buffer.len = static_cast<Py_ssize_t>(block.bytes);
  buffer.itemsize = size_of(block.type);
  buffer.format = const_cast<char*>(format_of(block.type));
  buffer.ndim = block.rank;
  buffer.shape = shape.data();
  buffer.strides = strides.data();
  return Object(PyMemoryView_FromBuffer(&buffer));
}

// Returns the arguments of bootstrap.Block.
Object arguments_of(const tailrace_plugin_block& block) {
  Object offset = tuple_of(block.offset, block.rank);
  Object global_shape = tuple_of(block.global_shape, block.rank);
  Object view = view_of(block);
  if (!offset || !global_shape || !view) return {};
  return Object(Py_BuildValue("(ssLiOOO)", block.variable, block.unit, static_cast<long long>(block.iteration),
                              static_cast<int>(block.source), offset.get(), global_shape.get(), view.get()));
}

Object all_arguments(const tailrace_plugin_call& call) {
  Object list(PyList_New(0));
  for (size_t i = 0; list && i < call.block_count; ++i) {
    const Object block = arguments_of(*tailrace_plugin_block_at(&call, i));
    if (!block || PyList_Append(list.get(), block.get()) != 0) return {};
  }
  return list;
}

Object clients_of(const tailrace_plugin_call& call) {
  Object tuple(PyTuple_New(static_cast<Py_ssize_t>(call.client_count)));
  for (size_t i = 0; tuple && i < call.client_count; ++i) {
    PyObject* client = PyLong_FromLong(call.clients[i]);
    if (client == nullptr) return {};
    PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i), client);
  }
  return tuple;
}

// Reports one ⟨key, value⟩ of bootstrap.call's results. Returns false after a Python error.
bool report(const tailrace_plugin_call& call, PyObject* result) {
  const char* key = nullptr;
  PyObject* value = nullptr;
  if (!PyArg_ParseTuple(result, "sO", &key, &value)) return false;
  if (PyUnicode_Check(value)) {
    const char* text = PyUnicode_AsUTF8AndSize(value, nullptr);
    if (text == nullptr) return false;
    call.report_text(&call, key, text);
  } else if (PyList_Check(value)) {
    std::vector<double> numbers;
    for (Py_ssize_t i = 0; i < PyList_Size(value); ++i) {
      numbers.push_back(PyFloat_AsDouble(PyList_GetItem(value, i)));
    }
    call.report_array(&call, key, numbers.data(), numbers.size());
  } else {
    call.report(&call, key, PyFloat_AsDouble(value));
  }
  return PyErr_Occurred() == nullptr;
}

// Calls the function. Returns false after a Python error. `why` is empty, or the plugin's own error.
bool carry_out(PyObject* function, const tailrace_plugin_call& call, std::string& why) {
  const Object clients = clients_of(call);
  const Object blocks = all_arguments(call);
  if (!clients || !blocks) return false;
  const Object ended(PyObject_CallMethod(bootstrap, "call", "OsLOO", function, call.event,
                                         static_cast<long long>(call.iteration), clients.get(), blocks.get()));
  const char* error = nullptr;
  PyObject* results = nullptr;
  if (!ended || !PyArg_ParseTuple(ended.get(), "zO!", &error, &PyList_Type, &results)) return false;
  if (error != nullptr) {
    why = error;
    return true;
  }
  for (Py_ssize_t i = 0; i < PyList_Size(results); ++i) {
    if (!report(call, PyList_GetItem(results, i))) return false;
  }
  return true;
}

int refuse(const std::string& reason, char* why, size_t size) {
  std::snprintf(why, size, "%s", reason.c_str());
  return 1;
}

}  // namespace

#define TAILRACE_PYTHON_EXPORT extern "C" __attribute__((visibility("default")))

TAILRACE_PYTHON_EXPORT void* tailrace_python_load(const char* file, const char* function, const char* environment,
                                                  const char* program, char* why, size_t size) {
  const InUse in_use;
  const std::string refusal = prepare(environment, program);
  PyObject* loaded = nullptr;
  if (refusal.empty()) loaded = PyObject_CallMethod(bootstrap, "load", "ss", file, function);
  if (loaded == nullptr) refuse(refusal.empty() ? take_error() : refusal, why, size);
  return loaded;
}

TAILRACE_PYTHON_EXPORT int tailrace_python_call(void* function, const tailrace_plugin_call* call, char* why,
                                                size_t size) {
  const InUse in_use;
  std::string error;
  const bool done = carry_out(static_cast<PyObject*>(function), *call, error);
  if (done && error.empty()) return 0;
  return refuse(done ? error : take_error(), why, size);
}

TAILRACE_PYTHON_EXPORT void tailrace_python_end() {
  const InUse in_use;
  if (Py_IsInitialized()) Py_FinalizeEx();
}
