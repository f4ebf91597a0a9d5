// Callbacks of files: the native connector opens them; this remembers those whose data can be carried.
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hdf5_vol/callbacks/callbacks.hpp"
#include "hdf5_vol/data/object.hpp"
#include "hdf5_vol/files/files.hpp"
#include "hdf5_vol/files/prefetch_file.hpp"
#include "hdf5_vol/host/errors.hpp"
#include "hdf5_vol/host/identifier.hpp"
#include "hdf5_vol/host/wheel_filters.hpp"
#include "hdf5_vol/policy/carry_policy.hpp"
#include "hdf5_vol/process/detached.hpp"
#include "hdf5_vol/process/prefetcher.hpp"
#include "hdf5_vol/process/process.hpp"
#include "hdf5_vol/process/seal.hpp"
#include "process_client/hdf5_opens.hpp"

namespace tailrace::hdf5 {

// The properties of a program's file access list that the connector keeps from the library below: the connector
// itself and the sieve buffer. A list that the program gets from the file must open other files as this one was
// opened.
class ProgramAccess {
 public:
  // The connector's information is a text (connector.cpp).
  ProgramAccess(const Host& host, hid_t fapl) {
    void* information = nullptr;
    if (host.H5Pget_vol_info(fapl, &information) >= 0 && information != nullptr) {
      words_ = static_cast<const char*>(information);
      std::free(information);
    }
    host.H5Pget_sieve_buf_size(fapl, &sieve_);
  }

  // Puts the properties into `fapl`; returns false on an error.
  bool restore(const Host& host, hid_t fapl) const {
    const hid_t connector = host.H5VLget_connector_id_by_value(connector_class().value);
    if (connector < 0) return false;
    const bool set = host.H5Pset_vol(fapl, connector, words_ ? words_->c_str() : nullptr) >= 0 &&
                     host.H5Pset_sieve_buf_size(fapl, sieve_) >= 0;
    return host.H5VLclose(connector) >= 0 && set;
  }

 private:
  std::optional<std::string> words_;  // the connector's settings, as text
  size_t sieve_ = 0;                  // bytes
};

namespace {

// A property list that is closed at the end of its scope: a copy of another list, or the list itself.
class List {
 public:
  struct Taken {};
  List(const Host& host, hid_t like) : host_(host), id_(host.H5Pcopy(like)) {}
  List(const Host& host, hid_t list, Taken) : host_(host), id_(list) {}
  ~List() {
    if (id_ >= 0) host_.close_list(id_);
  }
  List(const List&) = delete;
  List& operator=(const List&) = delete;
  hid_t id() const { return id_; }
  // Closes it early, where nothing on the error stack must be kept.
  void close() { host_.H5Pclose(std::exchange(id_, H5I_INVALID_HID)); }

 private:
  const Host& host_;
  hid_t id_;
};

// Sets the native connector in the program's access properties.
bool use_native(const Host& host, const List& access) {
  return access.id() >= 0 && host.H5Pset_vol(access.id(), host.native, nullptr) >= 0;
}

bool is_parallel(const Host& host, hid_t access) {
  const hid_t mpio = host.mpio();
  return mpio >= 0 && host.H5Pget_driver(access) == mpio;
}

// Returns what is known of a file that is opened with these access properties. All processes that open a file
// together get the same answer.
FileFacts facts_of(const Host& host, const char* name, hid_t access, unsigned flags) {
  FileFacts file;
  file.is_watched = (flags & (H5F_ACC_SWMR_WRITE | H5F_ACC_SWMR_READ)) != 0;
  if (why_not(file) != Reason::none) return file;
  file.is_parallel = is_parallel(host, access);
  file.has_plain_driver = file.is_parallel || host.H5Pget_driver(access) == host.sec2();
  if (file.is_parallel) {
    hbool_t together = false;
    file.names_system = std::strchr(name, ':') != nullptr;
    file.metadata_together = host.get_metadata_together(access, &together) < 0 || together;
  }
  size_t page_buffer = 0;
  unsigned metadata_percent = 0;
  unsigned raw_percent = 0;
  file.has_page_buffer =
      host.H5Pget_page_buffer_size(access, &page_buffer, &metadata_percent, &raw_percent) < 0 || page_buffer > 0;
  return file;
}

unsigned long number_of(const Host& host, void* under) {
  unsigned long number = 0;
  H5VL_file_get_args_t arguments{};
  arguments.op_type = H5VL_FILE_GET_FILENO;
  arguments.args.get_fileno.fileno = &number;
  return host.H5VLfile_get(under, host.native, &arguments, host.transfer, nullptr) < 0 ? 0 : number;
}

uint64_t userblock_in(const Host& host, hid_t fcpl) {
  hsize_t bytes = 0;
  return host.H5Pget_userblock(fcpl, &bytes) < 0 ? UINT64_MAX : bytes;
}

uint64_t userblock_of(const Host& host, void* under) {
  H5VL_file_get_args_t arguments{};
  arguments.op_type = H5VL_FILE_GET_FCPL;
  arguments.args.get_fcpl.fcpl_id = H5I_INVALID_HID;
  if (host.H5VLfile_get(under, host.native, &arguments, host.transfer, nullptr) < 0) return UINT64_MAX;
  const List creation(host, arguments.args.get_fcpl.fcpl_id, List::Taken{});
  return userblock_in(host, creation.id());
}

// Returns true if HDF5 has not opened the file in another way earlier, through a link or by another connector. It
// keeps the properties of that time.
bool is_open_as_asked(const Host& host, const char* name, void* under, unsigned flags) {
  if (file_of(host, number_of(host, under)) != nullptr) return true;
  H5VL_file_get_args_t arguments{};
  arguments.op_type = H5VL_FILE_GET_FAPL;
  arguments.args.get_fapl.fapl_id = H5I_INVALID_HID;
  if (host.H5VLfile_get(under, host.native, &arguments, host.transfer, nullptr) < 0) return false;
  const List access(host, arguments.args.get_fapl.fapl_id, List::Taken{});
  FileFacts facts = facts_of(host, name, access.id(), flags);
  size_t sieve = 0;
  facts.is_open_with_sieve = host.H5Pget_sieve_buf_size(access.id(), &sieve) < 0 || sieve > 0;
  return why_not(facts) == Reason::none;
}

// Wraps a file that was opened for writing. A file of several processes is remembered even without a path: this
// process still has to do itself what it cannot carry. `fcpl`: the list that the file was created by;
// H5I_INVALID_HID: it existed. `fapl`: the program's access properties.
void* remember(Host& host, void* under, const std::string& name, bool parallel, hid_t fcpl, hid_t fapl) {
  void* const pointer = wrap(host, under);
  if (pointer == nullptr) return nullptr;
  char path[PATH_MAX] = "";
  const bool known = realpath(name.c_str(), path) != nullptr;
  if (why_not(FileFacts{.is_parallel = parallel, .has_path = known}) != Reason::none) return pointer;
  Object& object = object_at(pointer);
  object.file = make_file(host, number_of(host, under), known ? path : "", parallel);
  object.file->userblock = fcpl > 0 ? userblock_in(host, fcpl) : userblock_of(host, under);
  if (object.file->opens++ == 0) object.file->cache = ChunkCache::of_file(host, fapl);
  return pointer;
}

// Returns the descriptor by which HDF5 has the file open; -1 if that is unknown.
int descriptor_of(const Object& object) {
  const Host& host = object.host;
  void* handle = nullptr;
  H5VL_native_file_optional_args_t below{};
  below.get_vfd_handle.fapl_id = H5P_DEFAULT;
  below.get_vfd_handle.file_handle = &handle;
  H5VL_optional_args_t arguments{H5VL_NATIVE_FILE_GET_VFD_HANDLE, &below};
  const herr_t got = host.H5VLfile_optional(object.under, host.native, &arguments, host.transfer, nullptr);
  return got < 0 || handle == nullptr ? -1 : *static_cast<const int*>(handle);
}

// Registers the wrapped file for prefetching.
void remember_for_readers(Object& object, uint64_t most) {
  const Host& host = object.host;
  const int theirs = descriptor_of(object);
  const unsigned long number = number_of(host, object.under);
  if (theirs < 0 || number == 0) return;
  object.prefetch_file = make_prefetch_file(host, number, theirs, most);
  [[maybe_unused]] static const int told =
      carrier().summary() ? std::atexit([] { Process::instance().report_prefetched(); }) : 0;
}

// Reports, before a file is created, which of the closed files are incomplete: a call that fails here leaves nothing
// behind. Before a file is opened, reports only what is wrong with that file.
bool admit(const Host& host, const char* name, bool create) {
  Detached& detached = Process::instance().detached();
  const std::string broken = detached.wait(name);
  std::vector<std::string> failures;
  if (create) {
    failures = detached.take_failures();
  } else if (!broken.empty()) {
    failures.push_back(broken);
  }
  detached.look();
  for (const std::string& failure : failures) push_error(host, create ? "H5Fcreate" : "H5Fopen", failure);
  return failures.empty();
}

// Explains why HDF5 could not open a file, if not all of it is written.
void explain(const Host& host, const char* name) {
  if (!lacks_seal(name)) return;
  host.H5Eset_current_stack(host.H5Ecreate_stack());  // drops HDF5's message about the superblock
  push_error(host, "H5Fopen",
             not_whole(name,
                       "a program closed it without waiting for its data, which are still being written, or were "
                       "lost with the program"));
}

// Marks a file that was just created, or opened once more while it is open: its last close waits for nothing.
void note_detached(Object& object, bool create) {
  if (create && object.file != nullptr && !object.file->is_parallel()) object.file->detaching().detach();
  std::shared_ptr<File> file = object.file;
  if (file == nullptr && !create && File::any()) file = file_of(object.host, number_of(object.host, object.under));
  if (file != nullptr && file->detaching().is_detached()) object.within = Within(file);
}

// HDF5 must not buffer raw data itself (in its sieve buffer), as it would not see data that bypass it.
void* create_or_open_below(Host* host, const char* name, unsigned flags, hid_t fcpl, hid_t fapl, hid_t dxpl,
                           bool create) {
  if (host == nullptr) return nullptr;
  std::string why = Process::instance().wrong();
  if (!why.empty()) {
    push_error(*host, create ? "H5Fcreate" : "H5Fopen", why);
    return nullptr;
  }
  find_wheel_filters(*host);
  List access(*host, fapl);
  if (!use_native(*host, access) || !admit(*host, name, create)) return nullptr;
  const bool parallel = is_parallel(*host, fapl);
  const bool writes = create || (flags & H5F_ACC_RDWR) != 0;
  const uint64_t prefetch = parallel ? 0 : Process::instance().prefetch();
  const bool plain = (writes || prefetch > 0) && why_not(facts_of(*host, name, fapl, flags)) == Reason::none;
  bool carried = plain && why_not(FileFacts{.is_written = writes}) == Reason::none;
  if (carried) host->H5Pset_sieve_buf_size(access.id(), 0);
  void* const under = [&] {
    const process::Hdf5Opens opens;
    return create ? host->H5VLfile_create(name, flags, fcpl, access.id(), dxpl, nullptr)
                  : host->H5VLfile_open(name, flags, access.id(), dxpl, nullptr);
  }();
  const hid_t made_by = create ? fcpl : H5I_INVALID_HID;
  if (under != nullptr && carried && !create && !parallel) carried = is_open_as_asked(*host, name, under, flags);
  void* const pointer = carried ? remember(*host, under, name, parallel, made_by, fapl) : wrap(*host, under);
  host->opens_together |= parallel;
  if (pointer == nullptr && !create) explain(*host, name);
  if (pointer != nullptr && Process::instance().detaches()) note_detached(object_at(pointer), create);
  if (plain && prefetch > 0 && pointer != nullptr) remember_for_readers(object_at(pointer), prefetch);
  if (pointer != nullptr) access.close();
  return pointer;
}

void* create_or_open(Host* host, const char* name, unsigned flags, hid_t fcpl, hid_t fapl, hid_t dxpl, bool create) {
  void* const pointer = create_or_open_below(host, name, flags, fcpl, fapl, dxpl, create);
  [[maybe_unused]] static const int told = std::atexit([] { Process::instance().report_unused(); });
  if (pointer != nullptr) object_at(pointer).access = std::make_shared<ProgramAccess>(*host, fapl);
  return pointer;
}

void* file_create(const char* name, unsigned flags, hid_t fcpl, hid_t fapl, hid_t dxpl, void**) {
  return create_or_open(host_of(__builtin_return_address(0)), name, flags, fcpl, fapl, dxpl, true);
}

void* file_open(const char* name, unsigned flags, hid_t fapl, hid_t dxpl, void**) {
  return create_or_open(host_of(__builtin_return_address(0)), name, flags, H5P_DEFAULT, fapl, dxpl, false);
}

herr_t file_get(void* pointer, H5VL_file_get_args_t* arguments, hid_t dxpl, void**) {
  const Object& object = object_at(pointer);
  if (object.under == nullptr) return -1;  // its close failed, but it is closed
  const herr_t got = object.host.H5VLfile_get(object.under, object.host.native, arguments, dxpl, nullptr);
  if (got < 0 || arguments->op_type != H5VL_FILE_GET_FAPL || object.access == nullptr) return got;
  return object.access->restore(object.host, arguments->args.get_fapl.fapl_id) ? got : -1;
}

// Puts a failure on the error stack. If the host is ending, no call can return it, so it goes to standard error.
void tell(const Host& host, const char* function, const std::string& failure) {
  if (!host.ending) return push_error(host, function, failure);
  std::fprintf(stderr, "tailrace: %s\n", failure.c_str());
}

// Waits for writes to `file` that are on their way, and reports failures.
bool settle(const Host& host, File* file, const char* function) {
  if (file == nullptr) return true;
  file->drain();
  const std::vector<std::string> failures = file->take_failures();
  for (const std::string& failure : failures) tell(host, function, failure);
  return failures.empty();
}

// Prepares a file that is closed without waiting. Its failures are reported when HDF5 has closed it; or at once, if
// the file cannot be hidden meanwhile.
bool settle_to_leave(const Host& host, File& file) {
  file.hand_over();
  (void)file.take_failures();  // they spoil the file
  if (file.hide()) return true;
  const bool whole = settle(host, &file, "H5Fclose");
  if (whole && !file.detaching().spoilt().empty())
    tell(host, "H5Fclose", not_whole(file.path(), file.detaching().spoilt()));
  return whole && file.detaching().spoilt().empty();
}

// Detaches a file that the program has closed. If HDF5 still has it open, for objects in it or because another file
// leads to it, waits for all of it instead. `theirs`: the descriptor by which HDF5 had it open.
bool leave(const Host& host, File& file, int theirs) {
  if (file.objects > 0 || file.is_behind(theirs)) {
    file.detaching().show();
    file.detaching().attach();
    if (!settle(host, &file, "H5Fclose")) return false;
  } else if (file.detaching().is_hidden()) {
    file.leave();
  } else {
    return true;
  }
  if (file.detaching().spoilt().empty()) return true;
  tell(host, "H5Fclose", not_whole(file.path(), file.detaching().spoilt()));
  return false;
}

herr_t reopen(const Object& object, H5VL_file_specific_args_t* arguments, hid_t dxpl) {
  const Host& host = object.host;
  if (host.H5VLfile_specific(object.under, host.native, arguments, dxpl, nullptr) < 0) return -1;
  void** const file = arguments->args.reopen.file;
  *file = wrap(object, *file);
  object_at(*file).prefetch_file = object.prefetch_file;
  object_at(*file).access = object.access;
  if (object.file != nullptr) {
    object_at(*file).file = object.file;
    ++object.file->opens;
  }
  return 0;
}

// Calls that name a file instead of having one open: only the access list names the connector.
herr_t specific_of_name(Host* host, H5VL_file_specific_args_t* arguments, hid_t dxpl) {
  if (host == nullptr) return -1;
  H5VL_file_specific_args_t below = *arguments;
  hid_t& fapl = below.op_type == H5VL_FILE_DELETE ? below.args.del.fapl_id : below.args.is_accessible.fapl_id;
  const List access(*host, fapl);
  if (!use_native(*host, access)) return -1;
  fapl = access.id();
  const char* const name =
      below.op_type == H5VL_FILE_DELETE ? below.args.del.filename : below.args.is_accessible.filename;
  (void)Process::instance().detached().wait(name);
  const herr_t done = host->H5VLfile_specific(nullptr, host->native, &below, dxpl, nullptr);
  if (done >= 0 && below.op_type == H5VL_FILE_IS_ACCESSIBLE && lacks_seal(name)) {
    *below.args.is_accessible.accessible = false;  // HDF5 only looks at the signature
  }
  return done;
}

herr_t file_specific(void* pointer, H5VL_file_specific_args_t* arguments, hid_t dxpl, void**) {
  if (arguments->op_type == H5VL_FILE_IS_ACCESSIBLE || arguments->op_type == H5VL_FILE_DELETE) {
    return specific_of_name(host_of(__builtin_return_address(0)), arguments, dxpl);
  }
  Object& object = object_at(pointer);
  const Host& host = object.host;
  if (arguments->op_type == H5VL_FILE_REOPEN) return reopen(object, arguments, dxpl);
  if (arguments->op_type == H5VL_FILE_IS_EQUAL) {  // HDF5 passes the other one unwrapped (get_object)
    return host.H5VLfile_specific(object.under, host.native, arguments, dxpl, nullptr);
  }
  drain_all(host);  // a flush, by any object of the file
  const herr_t done = host.H5VLfile_specific(object.under, host.native, arguments, dxpl, nullptr);
  const bool whole = settle(host, object.file.get(), "H5Fflush");
  Process::instance().detached().look();
  return whole ? done : -1;
}

// Returns true if from now on other programs see each write when it returns, or processes see each other's.
bool ends_carrying(const H5VL_optional_args_t& arguments) {
  constexpr int kSetMpiAtomicity = 27;  // only parallel HDF5's headers name it; its argument is a flag
  return arguments.op_type == H5VL_NATIVE_FILE_START_SWMR_WRITE ||
         (arguments.op_type == kSetMpiAtomicity && *static_cast<const hbool_t*>(arguments.args));
}

herr_t file_optional(void* pointer, H5VL_optional_args_t* arguments, hid_t dxpl, void**) {
  const Object& object = object_at(pointer);
  if (object.file != nullptr) {
    object.file->drain();
    if (ends_carrying(*arguments)) object.file->leave_alone();
  }
  return object.host.H5VLfile_optional(object.under, object.host.native, arguments, dxpl, nullptr);
}

// Returns a failure although the file is closed below: its wrapper is empty then, and its identifier is freed. A host
// that is ending closes each file only once, whatever this returns.
herr_t fail_closed(const Host& host, void* pointer) {
  if (!host.ending) {
    release_identifier_of_file(host, pointer);
    return -1;
  }
  unwrap(pointer);
  return 0;
}

herr_t file_close(void* pointer, hid_t dxpl, void**) {
  Object& object = object_at(pointer);
  if (object.under == nullptr) {
    unwrap(pointer);
    return 0;
  }
  const Host& host = object.host;
  const std::shared_ptr<File> file = object.file;
  const bool leaves = file != nullptr && file->detaching().is_detached() && file->opens == 1;
  bool whole = leaves ? settle_to_leave(host, *file) : settle(host, file.get(), "H5Fclose");
  Process::instance().detached().look();
  const int theirs = leaves ? descriptor_of(object) : -1;
  const herr_t closed = host.H5VLfile_close(object.under, host.native, dxpl, nullptr);
  if (closed < 0) {
    if (leaves) file->detaching().show();
    return closed;
  }
  object.under = nullptr;
  if (file != nullptr) --file->opens;
  object.file.reset();
  object.prefetch_file.reset();
  object.within.reset();
  if (leaves) whole = leave(host, *file, theirs) && whole;
  if (!whole) return fail_closed(host, pointer);
  unwrap(pointer);
  return 0;
}

}  // namespace

const H5VL_file_class_t file_callbacks = {file_create, file_open, file_get, file_specific, file_optional, file_close};

}  // namespace tailrace::hdf5
