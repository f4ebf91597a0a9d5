// ClosedInChildren: a descriptor that a forked child of the application must not keep.
//
// Children inherit descriptors, and a descriptor that is open anywhere keeps its resources: the lock on the open file
// description, and the memory of an unlinked file. A child that outlives its parent would keep both. fork() therefore
// closes these descriptors in the child. The handlers of pthread_atfork do not run in children made by clone or
// _Fork; those keep the descriptors until they execute a program.
#pragma once

namespace tailrace::impl {

class ClosedInChildren {
 public:
  ClosedInChildren() = default;
  // Lists the descriptor from now on. The caller keeps it, and closes it after this object has ended. Beyond kMost
  // listed descriptors, later ones stay open in children.
  explicit ClosedInChildren(int fd);
  ClosedInChildren(ClosedInChildren&& other) noexcept;
  ClosedInChildren& operator=(ClosedInChildren&& other) noexcept;
  ~ClosedInChildren() { forget(); }

  static constexpr int kMost = 1024;

 private:
  void forget();

  int slot_ = -1;  // none
};

}  // namespace tailrace::impl
