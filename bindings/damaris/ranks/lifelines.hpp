// Lifelines: connections by which the ranks of a dedicated node know how long they are needed. Each process that
// hands over to the node holds one open to its first rank until it has ended; if the process dies, the operating
// system closes it. The other ranks of the node hold one, too, and wait until the first rank closes it. Nothing is
// sent but a token that the ranks of the run share, so that no other program counts as one of them.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace tailrace::damaris {

// Differs from run to run; of no use once the run has started.
using LifeToken = std::array<unsigned char, 32>;

// An open file of the operating system, or none.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

// One end: open while this lives.
class Lifeline {
 public:
  enum class Kind : unsigned char { needs, waits };  // needs the dedicated node, or waits until that is not needed

  // Throws Failure if the other end cannot be reached.
  Lifeline(const std::string& host, int port, const LifeToken& token, Kind kind);

  // Waits until the other end is closed.
  void wait();

 private:
  Descriptor socket_;
};

// The other ends, on the first rank of a dedicated node.
class Lifelines {
 public:
  // Listens on all addresses. Throws Failure if that is impossible.
  Lifelines(const LifeToken& token, size_t expected);

  int port() const;
  // Waits until all that are expected have come. Throws Failure if some have not come in time.
  void meet();
  // Waits until all that need this node have closed their ends, or died. Then closes those of the ranks that wait.
  void wait();

 private:
  void admit(Descriptor peer);

  const LifeToken token_;
  const size_t expected_;
  Descriptor listener_;
  std::vector<Descriptor> needing_;
  std::vector<Descriptor> waiting_;
};

}  // namespace tailrace::damaris
