// client: tailrace.Client and tailrace.Ticket, one method for each verb, over the C interface alone.
//
// Every call that may wait releases the GIL; members are used under the GIL only. If a second thread calls while one
// is inside, it is refused here already, with the C interface's TAILRACE_BUSY: no other thread may come between a
// failing call and the call that gets its error.
#pragma once

#include <nanobind/nanobind.h>
#include <sys/types.h>
#include <tailrace/tailrace.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "array.hpp"
#include "integer.hpp"

namespace tailrace_python {

// A borrowed array. It is held until its request has ended, even if the program drops the ticket. Until then its
// flag says that it cannot be written to (tailrace/_lending.py).
class Loan {
 public:
  Loan(nanobind::object lent, std::string of, int64_t number)
      : variable(std::move(of)), iteration(number), buffer(lent, Buffer::Use::read), array_(std::move(lent)) {}
  ~Loan() { end(); }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;

  void begin();
  // Gives the array back. It can be called again.
  void end();
  bool ended() const { return ended_; }

  const std::string variable;
  const int64_t iteration;
  Buffer buffer;
  tailrace_ticket ticket{};

 private:
  nanobind::object array_;
  nanobind::object unlock_;  // while the array is lent
  bool ended_ = false;
};

class Client;

// Marks this thread as inside the client, for the life of this object. Raises tailrace.Error (BUSY) if another is
// inside.
class Inside {
 public:
  explicit Inside(const Client& client);
  ~Inside();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  const Client& client_;
};

class Ticket {
 public:
  // `owner` is the Python object of the client, which this keeps alive.
  Ticket(nanobind::object owner, std::shared_ptr<Loan> loan);
  bool wait(std::optional<double> timeout);
  bool test();
  std::string text() const;

 private:
  const Client& client() const;
  bool settle(tailrace_status status, bool ended);

  nanobind::object owner_;
  std::shared_ptr<Loan> loan_;
};

class Client {
 public:
  Client(tailrace_client* handle, int id, pid_t owner) : handle_(handle), id_(id), process_(owner) {}
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool write(const std::string& variable, const Integer& iteration, nanobind::handle array,
             nanobind::handle fill_value);
  static nanobind::object alloc(nanobind::pointer_and_handle<Client> self, const std::string& variable,
                                const Integer& iteration);
  bool commit(const std::string& variable, const Integer& iteration);
  static nanobind::object borrow(nanobind::pointer_and_handle<Client> self, const std::string& variable,
                                 const Integer& iteration, nanobind::handle array, nanobind::handle fill_value);
  bool end_iteration(const Integer& iteration, std::optional<double> time, std::optional<double> dt);
  bool attribute(const Integer& iteration, const std::string& name, nanobind::handle value,
                 const std::optional<std::string>& variable);
  bool signal(const std::string& event, const Integer& iteration);
  void set_parameters(const std::vector<std::pair<std::string, nanobind::object>>& values);
  void enable(const std::string& variable, bool on);
  void flush();
  nanobind::object read(const std::string& variable, const Integer& iteration, nanobind::object out);
  std::optional<int64_t> last_iteration() const;
  std::optional<double> last_time() const;
  void remove_file(const std::string& path);
  static nanobind::object open_file(nanobind::pointer_and_handle<Client> self, const std::string& path,
                                    const std::string& mode, bool immediate);
  nanobind::object stats() const;
  nanobind::object variable_stats(const std::string& name) const;
  nanobind::object file_stats(const std::optional<std::string>& path) const;
  std::string describe() const;
  nanobind::tuple variable(const std::string& name) const;
  nanobind::dict variable_texts() const;
  // Returns a text that tells which client it is, and its state. Never fails.
  std::string text() const;
  void close();
  // Closes. If the body of the `with` has raised an exception, adds a failure of the close to it as a note.
  void exit(nanobind::handle exception);

  bool closed() const { return closed_; }
  // Returns true if this process is a child of the one that opened the client; the client is the parent's.
  bool forked() const { return getpid() != process_; }
  int id() const { return id_; }

 private:
  friend class Inside;

  // An array that alloc returned and that is not committed. It can be made read-only later.
  struct View {
    std::string variable;
    int64_t iteration;
    nanobind::object array;  // a weak reference
  };

  tailrace_variable_info info(const std::string& variable) const;
  nanobind::object view_of(const std::string& variable, int64_t iteration) const;
  template <class Which>
  void withdraw(Which which);
  template <class Which>
  void set_writable_if(Which which, bool writable);
  void release_ended(nanobind::handle ticket = nanobind::none());

  tailrace_client* const handle_;
  const int id_;
  const pid_t process_;  // the process that opened it
  bool closed_ = false;
  mutable bool inside_ = false;               // a thread is in a call
  std::vector<std::shared_ptr<Loan>> loans_;  // that have not ended
  std::vector<View> views_;                   // that are not committed
};

}  // namespace tailrace_python
