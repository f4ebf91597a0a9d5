// FileHandler: OpenFOAM's file handler `tailrace`. It writes what `uncollated` writes, beside the computing.
//
// Only writing differs. Who looks at files, by this handler or without, does so by the C library, and the writer
// first finishes those that would be found (settled_looks.hpp).
#pragma once

#include <uncollatedFileOperation.H>

#include <string>

#include "openfoam/handler/figures.hpp"
#include "openfoam/handler/openfoam_version.hpp"
#include "openfoam/handler/settled_looks.hpp"
#include "openfoam/output/writer.hpp"

namespace Foam {
namespace fileOperations {

// The name that OpenFOAM's tables use.
class tailraceFileOperation : public uncollatedFileOperation {
 public:
  TypeName("tailrace");

  explicit tailraceFileOperation(bool verbose);
  // Waits until all is written. Ends the program by a FatalIOError if something could not be written.
  ~tailraceFileOperation() override;

  bool mkDir(const fileName& directory, mode_t mode) const override;

  // Before the program has written, leaves out the latest times of which parts are missing in a decomposed case.
  instantList findTimes(const fileName& directory, const word& constantName) const override;

  // A time directory is complete when the time has changed.
  void setTime(const Time& time) const override;
  void flush() const override;

#if OPENFOAM < 2312
  autoPtr<Ostream> NewOFstream(const fileName& path, IOstream::streamFormat format, IOstream::versionNumber version,
                               IOstream::compressionType compression, const bool valid) const override;
  bool writeObject(const regIOobject& object, IOstream::streamFormat format, IOstream::versionNumber version,
                   IOstream::compressionType compression, const bool valid) const override;
#else
  autoPtr<OSstream> NewOFstream(const fileName& path, IOstreamOption option, const bool valid) const override;
  autoPtr<OSstream> NewOFstream(IOstreamOption::atomicType, const fileName& path, IOstreamOption option,
                                const bool valid) const override;
  bool writeObject(const regIOobject& object, IOstreamOption option, const bool valid) const override;
#endif

 private:
  using StreamOption = tailrace::openfoam::StreamOption;

  tailrace::openfoam::NewStream newStream(const fileName& path, StreamOption::streamFormat format,
                                          StreamOption::versionNumber version,
                                          StreamOption::compressionType compression) const;
  // Calls `write`, which writes the object by the function of `uncollated`, and measures it.
  template <typename Write>
  bool measured(const regIOobject& object, Write write) const;
  // Ends the program by a FatalIOError if something could not be written.
  void checkFailure() const;
  void printTable() const;
  void writeTrace(const std::string& path) const;

  tailrace::openfoam::Writer& writer_;
  mutable tailrace::openfoam::Figures figures_;
  mutable tailrace::openfoam::ResolvedNames names_;
  mutable std::string output_;                    // the time directory of the latest object
  mutable int64_t outputs_ = 0;                   // how many there were
  mutable const regIOobject* writing_ = nullptr;  // by writeObject
  mutable bool hasWritten_ = false;
};

}  // namespace fileOperations
}  // namespace Foam
