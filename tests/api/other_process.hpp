// OtherProcess: a client in another process. It starts a separate program, sends it commands line by line, and reads
// an answer to each.
//
// The commands are those of other_process.cpp. A program that still runs at the end of the test is killed.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace test {

class OtherProcess {
 public:
  // Starts `program` with `arguments`; its standard input and output are ours.
  explicit OtherProcess(const std::string& program, const std::vector<std::string>& arguments = {}) {
    int in[2];
    int out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) abort();
    std::vector<char*> argv = {const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    if (posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv.data(), environ) != 0) abort();
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    to_ = fdopen(in[1], "w");
    from_ = out[0];
  }
  ~OtherProcess() {
    fclose(to_);
    if (pid_ > 0) end(SIGKILL);
    close(from_);
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  // Sends one line, and returns the line that answers it ("" if the program has died).
  std::string ask(const std::string& command) {
    tell(command);
    return answer();
  }
  void tell(const std::string& command) {
    std::fprintf(to_, "%s\n", command.c_str());
    std::fflush(to_);
  }
  std::string answer() {
    std::string answer;
    for (char c = 0; read_byte(c) && c != '\n';) answer += c;
    return answer;
  }
  // Reads the next byte of its output; returns false at the end.
  bool read_byte(char& byte) {
    ssize_t count = 0;
    do {
      count = ::read(from_, &byte, 1);
    } while (count < 0 && errno == EINTR);
    return count == 1;
  }
  // Sends `signal` and waits for its end; returns the status of waitpid.
  int end(int signal) {
    kill(pid_, signal);
    return wait_end();
  }
  int wait_end() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }
  pid_t pid() const { return pid_; }
  // Returns the descriptor that read_byte() reads, for poll().
  int output() const { return from_; }

 private:
  pid_t pid_ = -1;
  FILE* to_ = nullptr;
  int from_ = -1;
};

}  // namespace test
