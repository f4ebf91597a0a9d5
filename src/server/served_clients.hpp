// ServedClients: what the server of a node has of each of its clients, and what it does with what they send: checks
// it, writes it into the ledger, serves it, and goes on with what a server that died had accepted.
//
// Of a client that means its configuration, a format, a group of files and a server. Knows neither how clients are
// met nor where the ledger and the channels lie, so that the simulator runs it as CoreServer does. One thread.
//
// More than 35 functions: it forwards what ClientRings::Host and ServerCore ask about one client to that client's
// server, one line each; the rest takes up the ledger of an earlier server.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "channel/client_ends.hpp"
#include "engine/engine.hpp"
#include "format/format.hpp"
#include "model/config.hpp"
#include "place/place.hpp"
#include "publish/file_group.hpp"
#include "recovery/ledger.hpp"
#include "server/filtering/filter_crew.hpp"
#include "server/raw_files/shared_files.hpp"
#include "server/server_actions.hpp"

namespace tailrace::impl {

class ServedClients {
 public:
  // The format of a client's files, or of those that all share; it may keep the configuration, which stays where it
  // is.
  using MakeFormat = std::function<std::unique_ptr<Format>(int client, const Config& config)>;

  // How many file descriptors each of so many clients may have for the files of its iterations.
  using Descriptors = std::function<uint64_t(uint64_t clients)>;
  static uint64_t as_many_as_wanted(uint64_t) { return std::numeric_limits<uint32_t>::max(); }

  // All but `make_format` and `descriptors` are borrowed. `crew`: needed if there are filtered variables. `expected`:
  // as many clients as may come, if their configuration does not say it.
  ServedClients(Engine& engine, Ledger& ledger, Log& log, MakeFormat make_format, FilterCrew* crew = nullptr,
                Descriptors descriptors = as_many_as_wanted, uint32_t expected = 1);
  ~ServedClients();

  // Has the clients' actions run; before any comes. Borrowed.
  void serve_actions(ServerActions& actions) { actions_ = &actions; }

  // A client comes. `to_client` stays until dismiss(), or until the clients' end.
  RequestSink& begin(int client, Config config, ClientEnds& to_client);
  // Adds a client that an earlier server served. Call it for all of them, and then take_up_ledger() once.
  RequestSink& adopt(int client, Config config, ClientEnds& to_client);
  // Puts the formats and files where the earlier server had them, and lines up what it had accepted.
  void take_up_ledger();

  // Returns ok if a verb of that client makes sense; called before accepted().
  Status check(int client, const Descriptor& descriptor);
  // The verb is about to be taken from the ring and given to the client's sink.
  void accepted(int client, const Descriptor& descriptor);
  // The client is gone; what it has sent must end.
  void lost(int client);
  // Returns true if nothing that the client sent is under way.
  bool settled(int client) const;
  // The client has gone and is settled.
  void leave(int client);
  // After it has left: whether its part of all files has been written and published, or will never be.
  bool released(int client) const;
  void dismiss(int client);

  // Returns true if any client waits for an end, or soon would: nothing may be held back until a slot.
  bool pressed() const;
  // Returns true if some of the node's clients have yet to come, without whom the shared files cannot be published.
  bool expects_more() const;
  // Returns true if anything waits for them: an iteration that all present clients have ended, a close, the memory of
  // clients that have gone, or actions of scope `node`.
  bool waits_for_absent() const;
  // They are not waited for any more, and may not come any more: what waits for them goes on without them, and all
  // who are here are told. `why` ends the sentence. `run`: the times of the run, for the servers that follow.
  void give_up_absent(const std::string& why, const RunTimes& run);
  bool gave_up_absent() const { return gave_up_absent_; }
  // Those who have ever come.
  const std::set<int>& came() const { return came_; }
  // Returns true if that client, which is here, has gone, and is only being written.
  bool is_gone(int client) const;
  // Returns true if all present clients have gone, and are only being written; also if nobody is here.
  bool all_gone() const;

  // Moves everything on; see RequestSink.
  void progress();
  bool ready() const;

 private:
  struct Files;
  struct Member;

  std::unique_ptr<Files> make_files(int group, const Config& config, int client);
  Files& files_for(Member& member);
  size_t expected() const;
  std::vector<int> absent_numbers() const;
  void note_earlier_clients();
  void resume(Files& files);
  void give_room(const Files& files, int64_t iteration);
  void share_descriptors();
  void involve(Member& member, int64_t iteration);
  bool is_published(const LedgerRecord& record) const;
  bool is_done(int client, const Descriptor& verb) const;
  void strike_out_passing();
  void drive_engine();
  void accept_again();
  void accept_again(const LedgerRecord& record);
  Status lost_memory(const Files& files, int64_t iteration) const;
  void forget_iteration(int group, int64_t iteration);

  Engine& engine_;
  Ledger& ledger_;
  Log& log_;
  const MakeFormat make_format_;
  FilterCrew* const crew_;
  const Descriptors descriptors_;
  const uint32_t expected_;
  ServerActions* actions_ = nullptr;   // none: there are no actions
  SharedFiles raw_files_;              // of all clients
  std::unique_ptr<Files> node_files_;  // of all clients, where they share files
  std::map<int, std::unique_ptr<Member>> members_;
  std::set<int> came_;              // clients, by now or in the time of an earlier server
  bool gave_up_absent_ = false;     // those who have yet to come
  std::set<int64_t> common_;        // iterations in the files that all share, begun and not left
  size_t passing_ = 0;              // verbs of no iteration in the ledger, since they were last struck out …
  size_t passing_kept_ = 0;         // … and before they are again
  std::deque<LedgerRecord> again_;  // what an earlier server had accepted and placed
  std::vector<std::pair<FileGroup*, int64_t>> held_;  // iterations, until again_ is empty
  bool replaying_ = false;                            // again_ has yet to become empty
};

}  // namespace tailrace::impl
