// FileHandler: OpenFOAM's file handler `tailrace`. It writes what `uncollated` writes, beside the computing.
//
// Only writing differs. Every function that looks at files first lets the writer finish those that it would find
// (Writer::settle); the rest is that of `uncollated`. The class has more than 35 functions: OpenFOAM's interface has.
#pragma once

#include <uncollatedFileOperation.H>

#include <string>

#include "openfoam/handler/figures.hpp"
#include "openfoam/handler/openfoam_version.hpp"
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
  bool chMod(const fileName& path, const mode_t mode) const override;
  mode_t mode(const fileName& path, const bool followLink) const override;
  fileName::Type type(const fileName& path, const bool followLink) const override;
  bool exists(const fileName& path, const bool checkGzip, const bool followLink) const override;
  bool isDir(const fileName& path, const bool followLink) const override;
  bool isFile(const fileName& path, const bool checkGzip, const bool followLink) const override;
  off_t fileSize(const fileName& path, const bool followLink) const override;
  time_t lastModified(const fileName& path, const bool followLink) const override;
  double highResLastModified(const fileName& path, const bool followLink) const override;
  fileNameList readDir(const fileName& directory, const fileName::Type type, const bool filtergz,
                       const bool followLink) const override;
  bool cp(const fileName& from, const fileName& to, const bool followLink) const override;
  bool ln(const fileName& from, const fileName& to) const override;
  bool mv(const fileName& from, const fileName& to, const bool followLink) const override;
  bool mvBak(const fileName& path, const std::string& extension) const override;
  bool rm(const fileName& path) const override;

  fileName filePath(const bool checkGlobal, const IOobject& object, const word& wanted,
                    const bool search) const override;
  fileName dirPath(const bool checkGlobal, const IOobject& object, const bool search) const override;

  // Before the program has written, leaves out the latest times of which a part is missing in a decomposed case.
  instantList findTimes(const fileName& directory, const word& constantName) const override;

  autoPtr<ISstream> NewIFstream(const fileName& path) const override;

  label addWatch(const fileName& path) const override;
  void setUnmodified(const label watch) const override;

  // A time directory is complete when the time has changed.
  void setTime(const Time& time) const override;
  void flush() const override;

#if OPENFOAM < 2312
  bool rmDir(const fileName& directory, const bool silent) const override;
  fileName filePath(const fileName& path) const override;
  autoPtr<Ostream> NewOFstream(const fileName& path, IOstream::streamFormat format, IOstream::versionNumber version,
                               IOstream::compressionType compression, const bool valid) const override;
  bool writeObject(const regIOobject& object, IOstream::streamFormat format, IOstream::versionNumber version,
                   IOstream::compressionType compression, const bool valid) const override;
#else
  bool rmDir(const fileName& directory, const bool silent, const bool emptyOnly) const override;
  fileName filePath(const fileName& path, const bool checkGzip, const bool followLink) const override;
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
  void settle(const fileName& path) const;
  void settleBelow(const fileName& path) const;
  // Ends the program by a FatalIOError if something could not be written.
  void checkFailure() const;
  void printTable() const;
  void writeTrace(const std::string& path) const;

  tailrace::openfoam::Writer& writer_;
  mutable tailrace::openfoam::Figures figures_;
  mutable std::string output_;                    // the time directory of the latest object
  mutable int64_t outputs_ = 0;                   // how many there were
  mutable const regIOobject* writing_ = nullptr;  // by writeObject
  mutable bool hasWritten_ = false;
};

}  // namespace fileOperations
}  // namespace Foam
