// Members: the clients of a server, each with its configuration, its files and its Server. Knows in which iterations
// each of them takes part, which clients have come, and what waits for those that have not.
//
// All clients may share one group of files (storage.files). What a later server has to know of the files goes into
// the ledger. Neither takes verbs nor drives the engine (ServedClients). One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/function_ref.hpp"
#include "base/sync/cpu_group.hpp"
#include "channel/channel_ends.hpp"
#include "format/format.hpp"
#include "place/client_rings.hpp"
#include "recovery/ledger.hpp"
#include "server/raw_files/shared_files.hpp"
#include "server/server_actions.hpp"

namespace tailrace::impl {

class Members final {
 public:
  // Makes the format of a client's files, or of the files that all clients share. It may keep a reference to the
  // configuration, which does not move.
  using MakeFormat = std::function<std::unique_ptr<Format>(int client, const Config& config)>;

  // Returns how many file descriptors each of `clients` clients may use for the files of its iterations.
  using Descriptors = std::function<uint64_t(uint64_t clients)>;
  static uint64_t as_many_as_wanted(uint64_t) { return std::numeric_limits<uint32_t>::max(); }

  // The parts that depend on the first client's configuration. Borrowed, but for the functions.
  struct Equipment {
    Engine& engine;
    MakeFormat make_format;
    FilterCrew* crew = nullptr;  // needed if there are filtered variables
    Descriptors descriptors = as_many_as_wanted;
    uint32_t expected = 1;                // how many clients may come, if their configuration does not say it
    ServerActions* actions = nullptr;     // null: there are no actions
    std::shared_ptr<CpuGroup> cpus = {};  // of the server's thread; null: any
  };

  // A client's side of its channel, and what only some clients have.
  struct Guest {
    Channel& channel;
    SleepFlag<>& server_asleep;
    pid_t process = 0;
    bool shares_memory = false;  // its process is this one: it may borrow, and its blocks may lie anywhere
    TraceLog* trace = nullptr;   // for what the server does for it
    bool always_waits = false;   // it serves itself, and waits for the end of each verb
  };

  // The files of one client, or of all clients.
  struct Files final : Witness {
    Files(int group_in, Config config_in, Members& members_in)
        : group(group_in), config(std::move(config_in)), members(members_in), log(members.log_.part()) {}

    const int group;  // number, see Ledger
    const Config config;
    Members& members;
    const std::unique_ptr<Log> log;  // for messages about these files
    std::unique_ptr<Format> format;
    std::unique_ptr<FileGroup> files;
    std::set<int64_t> published;  // iterations that an earlier server has published, and that were still in the
                                  // ledger when this one began

    bool has(int client) const { return group == Ledger::kNode || group == client; }

    // Implements Witness.
    void placed(const Block& block, uint64_t index, const FilteredChunk& chunk, const Loss& loss) override {
      members.ledger_.placed(block, index, chunk, loss);
    }
    void failed(int64_t iteration, const Status& why) override { members.ledger_.failed(group, iteration, why); }
    void unpublished(int64_t iteration, const Status& why) override {
      members.note_unwritten(*this, iteration, why);
      members.ledger_.unpublished(group, iteration, why);
      members.forget_iteration(group, iteration);
    }
    // Fails if the memory of a client that takes part in the iteration has gone: zeros may have been written for its
    // bytes.
    Status doubt(int64_t iteration) override;
    void journaled(uint64_t end) override { members.ledger_.journaled(group, end); }
    void left(int64_t iteration) override {
      members.ledger_.left(group, iteration);
      members.forget_iteration(group, iteration);
    }
  };

  struct Member {
    Member(int number_in, Config config_in, const Guest& guest_in, const ClientRings::Stage& stage_in)
        : number(number_in),
          config(std::move(config_in)),
          guest(guest_in),
          stage(stage_in),
          to_client(guest.channel) {}

    bool is_gone() const { return stage != ClientRings::Stage::here; }
    Urgency urgency() const { return is_gone() || guest.always_waits ? Urgency::waiting : server->urgency(); }
    // Returns ok unless the verb begins an iteration, and the client may begin no more.
    Status check_beginning(const Descriptor& verb) const;

    const int number;
    const Config config;
    const Guest guest;
    const ClientRings::Stage& stage;
    ChannelEnds to_client;
    TraceLog no_trace{0};
    std::unique_ptr<Files> own;  // null if clients share files
    Files* files = nullptr;
    std::unique_ptr<Server> server;
    std::set<int64_t> open;      // iterations that its verbs have begun and not ended
    std::set<int64_t> involved;  // iterations that have verbs of it, and have not left …
    std::set<int64_t> begun;     // … other than those that it only drops
    uint32_t most_begun = 0;     // the highest limit for these that it was told
  };

  // Borrows `ledger` and `log`.
  Members(Ledger& ledger, Log& log, Equipment equipment);

  // Adds a client. What `guest` and `stage` refer to must live until the client is dismissed, or until this ends.
  // `adopted`: an earlier server served it.
  void add(int client, Config config, const Guest& guest, const ClientRings::Stage& stage, bool adopted);
  void dismiss(int client);
  // Notes a client that had come and left before an earlier server died.
  void note_left(int client);

  const Equipment& equipment() const { return equipment_; }
  SharedFiles& raw_files() { return raw_files_; }  // of all clients
  Files* shared() { return node_files_.get(); }    // null unless all clients share files
  const std::map<int, std::unique_ptr<Member>>& all() const { return all_; }
  Member& at(int client) const { return *all_.at(client); }
  // Returns null if the client is not here.
  Member* find(int client) const;
  // Calls `visit` with each client whose files these are: not with all clients, if each has files of its own.
  void visit(int group, FunctionRef<void(Member& member)> visit) const;

  // Notes in which iteration the verb has the client take part.
  void note_iteration(Member& member, const Descriptor& verb);

  // Returns true if that client has gone: at most its data are still being written.
  bool is_gone(int client) const;
  // Returns true if all present clients have gone, and only their data are still being written; also if there are
  // none.
  bool all_gone() const;
  // Returns the clients that have ever come, to this server or an earlier one.
  const std::set<int>& came() const { return came_; }
  // Returns true if clients of the node have not come yet, and the shared files cannot be published without them.
  bool expects_more() const;
  // Returns true if anything waits for these clients: an iteration that all present clients have ended, a close, the
  // memory of clients that have gone, or actions of scope `node`.
  bool waits_for_absent() const;
  // Stops waiting for these clients, which may no longer come: work that waits for them continues without them, and
  // all present clients get a failure. `why` ends its sentence. `run`: for the ledger.
  void give_up_absent(const std::string& why, const RunTimes& run);
  // Stops waiting, as an earlier server had done.
  void give_up_absent_again();
  bool gave_up_absent() const { return gave_up_absent_; }
  // Returns the first failure of an iteration whose clients had all gone; ok if there was none.
  const Status& unwritten() const { return unwritten_; }

 private:
  Files& files_for(Member& member);
  void share_descriptors();
  void note_unwritten(const Files& files, int64_t iteration, const Status& why);
  void forget_iteration(int group, int64_t iteration);
  size_t expected() const;
  std::vector<int> absent_numbers() const;

  Ledger& ledger_;
  Log& log_;
  const Equipment equipment_;
  SharedFiles raw_files_;
  std::unique_ptr<Files> node_files_;
  std::map<int, std::unique_ptr<Member>> all_;
  std::set<int> came_;
  bool gave_up_absent_ = false;  // on the clients that had not come
  std::set<int64_t> common_;     // iterations in the shared files, begun and not left
  Status unwritten_;
};

}  // namespace tailrace::impl
