// ServedClients: the clients of a server. Checks what they send, writes it into the ledger, serves it, and continues
// what a dead server had accepted.
//
// For each client it has the configuration, a format, a group of files and a server. It knows neither how clients are
// met nor where the ledger and the channels lie, so the simulator runs it as servers do. One thread.
//
// More than 35 functions: it is the host of the rings, answers ServerCore, and takes up what an earlier server left.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/function_ref.hpp"
#include "base/log.hpp"
#include "channel/channel.hpp"
#include "engine/engine.hpp"
#include "format/format.hpp"
#include "model/config/config.hpp"
#include "place/client_rings.hpp"
#include "publish/file_group.hpp"
#include "recovery/ledger.hpp"
#include "server/filtering/filter_crew.hpp"
#include "server/raw_files/shared_files.hpp"
#include "server/run_watch.hpp"
#include "server/server_actions.hpp"

namespace tailrace::impl {

class ServedClients final : private ClientRings::Host {
 public:
  // Makes the format of a client's files, or of the files that all clients share. It may keep a reference to the
  // configuration, which does not move.
  using MakeFormat = std::function<std::unique_ptr<Format>(int client, const Config& config)>;

  // Returns how many file descriptors each of `clients` clients may use for the files of its iterations.
  using Descriptors = std::function<uint64_t(uint64_t clients)>;
  static uint64_t as_many_as_wanted(uint64_t) { return std::numeric_limits<uint32_t>::max(); }

  // A client's side of its channel, and what only some clients have.
  struct Guest {
    Channel& channel;
    SleepFlag<>& server_asleep;
    pid_t process = 0;
    bool shares_memory = false;  // its process is this one: it may borrow, and its blocks may lie anywhere
    TraceLog* trace = nullptr;   // for what the server does for it
    bool always_waits = false;   // it serves itself, and waits for the end of each verb
  };

  // Borrows all but `make_format` and `descriptors`. `crew` is needed if there are filtered variables. `expected`:
  // how many clients may come, if their configuration does not say it.
  ServedClients(Engine& engine, Ledger& ledger, Log& log, RunWatch& runs, MakeFormat make_format,
                FilterCrew* crew = nullptr, Descriptors descriptors = as_many_as_wanted, uint32_t expected = 1);
  ~ServedClients() override;

  // Makes `actions`, which is borrowed, run the clients' actions. Call it before any client comes.
  void serve_actions(ServerActions& actions) { actions_ = &actions; }

  // Adds a client. What `guest` refers to must live until it is dismissed, or until this ends.
  void begin(int client, Config config, const Guest& guest);
  // Adds a client that an earlier server served. Call it for all of them, and then take_up_ledger() once.
  void adopt(int client, Config config, const Guest& guest);
  // Restores the formats and files as the earlier server had them, and queues the verbs that it had accepted.
  void take_up_ledger();

  // See ClientRings.
  void lose(int client, bool died) { rings_.lose(client, died); }
  ClientRings::Round work() { return rings_.work(); }
  void announce() { rings_.announce(); }
  void retract() { rings_.retract(); }

  // Returns true if no request of the client is unfinished.
  bool settled(int client) const override;
  // Returns true if clients of the node have not come yet, and the shared files cannot be published without them.
  bool expects_more() const;
  // Returns true if anything waits for these clients: an iteration that all present clients have ended, a close, the
  // memory of clients that have gone, or actions of scope `node`.
  bool waits_for_absent() const;
  // Stops waiting for these clients, which may no longer come: work that waits for them continues without them, and
  // all present clients get a failure. `why` ends its sentence.
  void give_up_absent(const std::string& why);
  bool gave_up_absent() const { return gave_up_absent_; }
  // Returns the clients that have ever come …
  const std::set<int>& came() const { return came_; }
  // … and those that have not been dismissed.
  std::vector<int> here() const;
  bool empty() const { return members_.empty(); }
  // Returns true if that client has gone: at most its data are still being written.
  bool is_gone(int client) const;
  // Returns true if all present clients have gone, and only their data are still being written; also if there are
  // none.
  bool all_gone() const;

 private:
  struct Files;
  struct Member;

  // Implements ClientRings::Host.
  Status check(int client, const Descriptor& verb) override;
  void accept(int client, const Descriptor& verb) override;
  void lost(int client) override;
  void leave(int client) override;
  // Returns true if the client's part of all files is published, or never will be.
  bool released(int client) const override;
  void dismiss(int client) override;
  void progress() override;
  bool ready() const override;

  void add(int client, Config config, const Guest& guest, std::optional<uint64_t> accepted);
  std::unique_ptr<Files> make_files(int group, const Config& config, int client);
  Files& files_for(Member& member);
  size_t expected() const;
  std::vector<int> absent_numbers() const;
  void note_earlier_clients();
  void resume(Files& files, const std::vector<LedgerRecord>& records);
  void give_room(const Files& files, int64_t iteration);
  void share_descriptors();
  Status check_beginning(const Member& member, const Descriptor& verb) const;
  void involve(Member& member, int64_t iteration);
  void note_iteration(Member& member, const Descriptor& verb);
  Urgency urgency() const;
  bool is_published(const LedgerRecord& record) const;
  bool is_done(int client, const Descriptor& verb) const;
  void strike_out_passing();
  void drive_engine();
  void accept_again();
  void accept_again(const LedgerRecord& record);
  void visit_members(int group, FunctionRef<void(Member& member)> visit) const;
  Status lost_memory(const Files& files, int64_t iteration) const;
  void forget_iteration(int group, int64_t iteration);

  Engine& engine_;
  Ledger& ledger_;
  Log& log_;
  RunWatch& runs_;
  const MakeFormat make_format_;
  FilterCrew* const crew_;
  const Descriptors descriptors_;
  const uint32_t expected_;
  ServerActions* actions_ = nullptr;   // null: there are no actions
  SharedFiles raw_files_;              // of all clients
  std::unique_ptr<Files> node_files_;  // null unless all clients share files
  std::map<int, std::unique_ptr<Member>> members_;
  std::set<int> came_;              // clients that have come to this server or an earlier one
  bool gave_up_absent_ = false;     // on the clients that had not come
  std::set<int64_t> common_;        // iterations in the shared files, begun and not left
  size_t passing_ = 0;              // ledger records of no iteration, since they were last struck out …
  size_t passing_kept_ = 0;         // … and how many the last striking out left
  std::deque<LedgerRecord> again_;  // verbs and places that an earlier server had recorded
  std::vector<std::pair<FileGroup*, int64_t>> held_;  // iterations that are held until again_ is empty
  bool replaying_ = false;                            // again_ is not empty yet
  ClientRings rings_{*this};
};

}  // namespace tailrace::impl
