// ClosedInChildren: a descriptor that a forked child of the application must not keep.
//
// Children inherit descriptors, and with them what a descriptor holds for as long as it is open anywhere: the lock on
// the open file description, and the memory of a file that has no name any more. A child that outlives its parent
// would keep both. fork() therefore closes these descriptors in the child. Children made without the handlers of
// pthread_atfork (by clone or _Fork), and programs that a child executes, are not concerned or not reached.
#pragma once

namespace tailrace::impl {

class ClosedInChildren {
 public:
  ClosedInChildren() = default;
  // From now on. The descriptor stays the caller's, who closes it after this has ended. Of more than kMost at once,
  // the later ones stay open in children.
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
