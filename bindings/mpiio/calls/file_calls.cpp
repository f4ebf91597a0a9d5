// Calls that concern a file as a whole: the MPI carries them out, before or after what is on its way is written.
#include <sys/stat.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "mpiio/calls/call.hpp"
#include "mpiio/collective/hints.hpp"
#include "mpiio/pending/pending.hpp"

namespace tailrace::mpiio {
namespace {

// How many calls of the connector for HDF5, in which HDF5 may open files, this thread is in.
thread_local int hdf5_opens = 0;

// Returns the path of the file, absolute and without symbolic links; the name if it has none.
std::string path_of(const char* name) {
  char path[PATH_MAX];
  return realpath(name, path) != nullptr ? path : name;
}

// A name may begin with the kind of a file system ("ufs:"), which only the MPI knows.
Obstacle obstacle_of(const char* name, int mode) {
  struct stat found {};
  if (hdf5_opens > 0) return Obstacle::hdf5;
  if ((mode & MPI_MODE_SEQUENTIAL) != 0) return Obstacle::sequential;  // only shared pointers are used with it
  if (!carries_anything()) return Obstacle::settings;
  if (std::strchr(name, ':') != nullptr) return Obstacle::kind;
  return ::stat(name, &found) == 0 && S_ISREG(found.st_mode) ? Obstacle::none : Obstacle::not_regular;
}

// Remembers a file that the MPI has opened. Either all processes carry it, or none: they have called together, with
// one mode.
void remember(MPI_Comm comm, const char* name, int mode, MPI_Info hints, MPI_File handle) {
  const Obstacle obstacle = obstacle_of(name, mode);
  if (obstacle == Obstacle::hdf5 || obstacle == Obstacle::sequential) {  // for all processes
    int rank = 0;
    TAILRACE_REAL(MPI_Comm_rank)(comm, &rank);
    if (rank == 0) tell_obstacle(path_of(name), obstacle);
    return;
  }
  const OpenFile::Mode accesses{(mode & MPI_MODE_WRONLY) == 0, (mode & MPI_MODE_RDONLY) == 0};
  MPI_Offset position = 0;
  TAILRACE_REAL(MPI_File_get_position)(handle, &position);  // MPI_MODE_APPEND: the end of the file
  auto file = std::make_unique<OpenFile>(handle, path_of(name), accesses, Group::of(comm), hints);
  file->open(obstacle, position);
  OpenFiles::instance().add(handle, std::move(file));
}

// A file that is opened to append begins at its end, which is behind all that any process has written.
void write_what_appends_follow(MPI_Comm comm, const char* name) {
  (void)Pending::instance().flush();  // failures belong to the files
  const FileKey file = FileKey::of(name);
  if (!file.is_unknown()) Pending::instance().wait_for_others(file);
  if (comm != MPI_COMM_NULL) TAILRACE_REAL(MPI_Barrier)(comm);
}

// Returns the first position of the view at or behind the end of the file.
MPI_Offset end_of(MPI_File handle, const View& view) {
  MPI_Offset size = 0;
  TAILRACE_REAL(MPI_File_get_size)(handle, &size);
  const uint64_t bytes = view.below(static_cast<uint64_t>(size));
  return static_cast<MPI_Offset>((bytes + view.etype() - 1) / view.etype());
}

}  // namespace
}  // namespace tailrace::mpiio

using tailrace::mpiio::find;
using tailrace::mpiio::first_of;
using tailrace::mpiio::forget_file;
using tailrace::mpiio::meet;
using tailrace::mpiio::meet_file;
using tailrace::mpiio::name_of;
using tailrace::mpiio::note_file;
using tailrace::mpiio::OpenFile;
using tailrace::mpiio::OpenFiles;
using tailrace::mpiio::report;
using tailrace::mpiio::settle;

extern "C" {

__attribute__((visibility("default"))) void tailrace_mpiio_hdf5_opens(int change) {
  tailrace::mpiio::hdf5_opens += change;
}

int MPI_File_open(MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file) {
  meet(comm);
  if ((mode & MPI_MODE_APPEND) != 0) tailrace::mpiio::write_what_appends_follow(comm, name);
  const int error = TAILRACE_REAL(MPI_File_open)(comm, name, mode, info, file);
  // A handler of MPI_FILE_NULL may have made a failure a success: there is no file then.
  if (error == MPI_SUCCESS && *file != MPI_FILE_NULL) {
    note_file(*file, comm);
    tailrace::mpiio::remember(comm, name, mode, info, *file);
  }
  return error;
}

// A process that opens or reads the file after its close sees what all have written that it has heard of.
int MPI_File_close(MPI_File* handle) {
  meet_file(*handle);
  int failed = MPI_SUCCESS;
  if (OpenFile* const file = find(*handle)) {
    file->agree();
    failed = settle(*handle);
    OpenFiles::instance().remove(*handle);
  }
  forget_file(*handle);
  const int error = TAILRACE_REAL(MPI_File_close)(handle);
  return first_of(failed, error);
}

int MPI_File_set_view(MPI_File handle, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                      const char* representation, MPI_Info info) {
  meet_file(handle);
  const int error = TAILRACE_REAL(MPI_File_set_view)(handle, displacement, etype, filetype, representation, info);
  OpenFile* const file = find(handle);
  if (error == MPI_SUCCESS && file != nullptr) {
    file->set_view(static_cast<uint64_t>(displacement), etype, filetype, representation, info);
  }
  return error;
}

int MPI_File_set_info(MPI_File handle, MPI_Info info) {
  meet_file(handle);
  const int error = TAILRACE_REAL(MPI_File_set_info)(handle, info);
  OpenFile* const file = find(handle);
  if (error == MPI_SUCCESS && file != nullptr) file->change_hints(info);
  return error;
}

// Adds the hint that the MPI does not know, as it is in force.
int MPI_File_get_info(MPI_File handle, MPI_Info* info) {
  const int error = TAILRACE_REAL(MPI_File_get_info)(handle, info);
  OpenFile* const file = find(handle);
  if (error == MPI_SUCCESS && file != nullptr && *info != MPI_INFO_NULL) {
    TAILRACE_REAL(MPI_Info_set)
    (*info, "tailrace_collective", name_of(file->collectives().choices()));
  }
  return error;
}

int MPI_File_set_atomicity(MPI_File handle, int flag) {
  meet_file(handle);
  const int failed = settle(handle);
  if (OpenFile* const file = find(handle)) file->set_atomic(flag != 0);
  const int error = TAILRACE_REAL(MPI_File_set_atomicity)(handle, flag);
  return first_of(failed, error);
}

int MPI_File_seek(MPI_File handle, MPI_Offset offset, int whence) {
  const int failed = whence == MPI_SEEK_END ? settle(handle) : MPI_SUCCESS;
  OpenFile* const file = find(handle);
  if (file == nullptr || !file->has_pointer()) {
    return first_of(failed, TAILRACE_REAL(MPI_File_seek)(handle, offset, whence));
  }
  const auto locked = file->lock();
  MPI_Offset position = offset;
  if (whence == MPI_SEEK_CUR) position += file->position();
  if (whence == MPI_SEEK_END) position += tailrace::mpiio::end_of(handle, file->view());
  const bool known = whence == MPI_SEEK_SET || whence == MPI_SEEK_CUR || whence == MPI_SEEK_END;
  // The MPI refuses what is wrong.
  const int error = TAILRACE_REAL(MPI_File_seek)(handle, position, known ? MPI_SEEK_SET : whence);
  if (error == MPI_SUCCESS) file->set_position(position);
  return first_of(failed, error);
}

int MPI_File_get_position(MPI_File handle, MPI_Offset* position) {
  OpenFile* const file = find(handle);
  if (file == nullptr || !file->has_pointer()) return TAILRACE_REAL(MPI_File_get_position)(handle, position);
  const auto locked = file->lock();
  *position = file->position();
  return MPI_SUCCESS;
}

int MPI_File_seek_shared(MPI_File handle, MPI_Offset offset, int whence) {
  meet_file(handle);
  const int failed = whence == MPI_SEEK_END ? settle(handle) : MPI_SUCCESS;
  const int error = TAILRACE_REAL(MPI_File_seek_shared)(handle, offset, whence);
  return first_of(failed, error);
}

int MPI_File_sync(MPI_File handle) {
  meet_file(handle);
  OpenFile* const file = find(handle);
  const int failed = file != nullptr ? report(handle, file->drain()) : MPI_SUCCESS;
  const int error = TAILRACE_REAL(MPI_File_sync)(handle);
  if (file != nullptr) file->refresh();
  return first_of(failed, error);
}

}  // extern "C"

TAILRACE_ALSO_PMPI(File_open);
TAILRACE_ALSO_PMPI(File_close);
TAILRACE_ALSO_PMPI(File_sync);
TAILRACE_ALSO_PMPI(File_set_view);
TAILRACE_ALSO_PMPI(File_set_info);
TAILRACE_ALSO_PMPI(File_get_info);
TAILRACE_ALSO_PMPI(File_set_atomicity);
TAILRACE_ALSO_PMPI(File_seek);
TAILRACE_ALSO_PMPI(File_get_position);
TAILRACE_ALSO_PMPI(File_seek_shared);

TAILRACE_SETTLE_ALL_FIRST(File_set_size, (MPI_File handle, MPI_Offset size), (handle, size));
TAILRACE_SETTLE_ALL_FIRST(File_preallocate, (MPI_File handle, MPI_Offset size), (handle, size));
TAILRACE_SETTLE_FIRST(File_get_size, (MPI_File handle, MPI_Offset* size), (handle, size));
