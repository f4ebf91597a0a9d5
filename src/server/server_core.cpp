#include "server/server_core.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace tailrace::impl {
namespace {

constexpr Nanoseconds kMissingFor = std::chrono::seconds(10);  // how long clients are missing before the server logs
                                                               // it

}  // namespace

ServerCore::ServerCore(const Clock& clock, const ProcessClock& processes, Doorbell& doorbell, Ledger& ledger,
                       Log& log, Options options)
    : clock_(clock),
      doorbell_(doorbell),
      ledger_(ledger),
      log_(log),
      options_(options),
      runs_(processes),
      began_(clock.now()) {}

ServerCore::~ServerCore() = default;

void ServerCore::equip(const Config& common, Equipment equipment) {
  if (std::exchange(begins_run_, false) && !continues_run_) {
    ledger_.begin_run();
    earlier_run_.forget();
  }
  common_ = common;
  engine_ = &equipment.engine;
  actions_ = equipment.actions;
  cpus_ = equipment.cpus;
  clients_.emplace(ledger_, log_, runs_, std::move(equipment));
}

// ---- clients come and go --------------------------------------------------------------------------------------

void ServerCore::begin(int client, Config config, const Guest& guest) {
  runs_.came(client, guest.process);
  clients_->begin(client, std::move(config), guest);
  had_client_ = true;
  if (!std::exchange(continues_run_, false)) return;
  clients_->take_up_ledger();
  runs_.resumed(earlier_run_.times());
  earlier_run_.forget();
}

void ServerCore::adopt(int client, Config config, const Guest& guest, uint64_t began, bool alive, bool has_left) {
  runs_.adopted(client, guest.process, began, !alive || has_left);
  clients_->begin(client, std::move(config), guest, /*adopted=*/true);
  had_client_ = true;
  // The client said goodbye, and the earlier server did not hear it.
  if (!alive || has_left) clients_->rings().lose(client, !alive);
}

void ServerCore::take_up_ledger() {
  if (!clients_) {
    begins_run_ = true;
    return earlier_run_.recall(ledger_.records());
  }
  clients_->take_up_ledger();
  // The ledger names clients that have left and are no longer here.
  if (came().size() > clients_->members().all().size()) runs_.departed_earlier();
}

const std::set<int>& ServerCore::came() const {
  static const std::set<int> nobody;
  return clients_ ? clients_->members().came() : nobody;
}

bool ServerCore::is_empty() const { return !clients_ || clients_->members().all().empty(); }

// Returns true if every present client has gone, even if the server has not seen its death yet.
bool ServerCore::all_gone() const {
  const auto& here = clients_->members().all();
  return std::all_of(here.begin(), here.end(),
                     [this](const auto& entry) { return entry.second->is_gone() || runs_.has_ended(entry.first); });
}

// A run is over when all its clients have come and gone.
bool ServerCore::run_is_over() const {
  return came().size() >= static_cast<size_t>(common_->place.clients) && all_gone();
}

Result<bool> ServerCore::is_of_next_run(int client, pid_t process) {
  if (Status status = earlier_run_.check(client, process, runs_); !status.ok()) return status;
  if (!clients_) continues_run_ = earlier_run_.goes_on_with(process, runs_);
  if (!clients_ || came().empty() || runs_.is_served(client, process)) return false;
  // The server is about to end. Each run has a server that its own processes started.
  if (!common_->storage.shares_files()) return all_gone();
  const auto here = [this] { return fmt::format("{}", fmt::join(came(), ", ")); };
  if (run_is_over() || runs_.is_of_another(process)) {
    if (all_gone()) {
      runs_.departed_before(process);
      clients_->give_up_absent(", since another run has begun");
      return true;
    }
    return Status(
        TAILRACE_CLIENT_IN_USE,
        fmt::format("client {}: its files are being written by a run that began before it, some of whose "
                    "clients ({}) are still there; expected that run to have ended, or another storage.path",
                    client, here()));
  }
  if (came().contains(client)) return false;
  if (clients_->members().gave_up_absent()) {
    return Status(TAILRACE_CLIENTS_MISSING,
                  fmt::format("client {} has come too late: after place.patience of {} s the files of its run are "
                              "written without it (clients {})",
                              client, common_->place.patience, here()));
  }
  if (came().size() < static_cast<size_t>(common_->place.clients)) return false;
  return Status(TAILRACE_INVALID_CONFIG,
                fmt::format("client {} is one more than place.clients says: found clients {} and {}, expected {}",
                            client, here(), client, common_->place.clients));
}

// ---- the loop -------------------------------------------------------------------------------------------------

void ServerCore::run(Acceptor& acceptor) {
  while (step(acceptor)) {
  }
  here_.reset();  // on the thread that serves
}

bool ServerCore::step(Acceptor& acceptor) {
  // Not between announce() and the sleep: a client that comes there would not know that it must ring.
  acceptor.begin_round();
  if (work(acceptor) || acceptor.has_news()) return true;
  if (is_over(acceptor)) return false;
  sleep(acceptor);
  return true;
}

// Returns true if there may be more to do at once.
bool ServerCore::work(Acceptor& acceptor) {
  if (!clients_) return false;
  const ClientRings::Round round = clients_->rings().work();
  for (const auto& [client, why] : round.distrusted) acceptor.distrusted(client, why);
  for (const auto& [client, died] : round.dismissed) {
    acceptor.dismissed(client, died);
    runs_.dismissed(client);
  }
  return look_for_absent(acceptor) || round.more;
}

bool ServerCore::is_over(const Acceptor& acceptor) {
  const bool lonely = is_empty() && !acceptor.has_company();
  if (!lonely || !had_client_) alone_until_.reset();
  const bool next_waits = acceptor.next_run_waits() && !acceptor.lets_in();
  if (is_empty() && next_waits) return true;  // the waiting client starts the next server
  if (!lonely) return false;
  if (had_client_) return has_waited_for_others();
  return options_.first_client_in && clock_.now() >= began_ + *options_.first_client_in;
}

// Returns true unless the server must stay for other clients: one that is quicker than the others must not end it.
bool ServerCore::has_waited_for_others() {
  if (options_.drain || !clients_ || !clients_->members().expects_more()) return true;
  const Nanoseconds now = clock_.now();
  if (!alone_until_) {
    alone_until_ = now + patience();
    log_.info("the last client has gone, but not all {} clients of place.clients have come yet",
              common_->place.clients);
  }
  return now >= *alone_until_;
}

// Joins the group of cpus, and looks whether others want them, while the thread is awake anyway.
void ServerCore::look_at_cpus() {
  if (!cpus_) return;
  if (!here_) here_.emplace(*cpus_);
  here_->look(clock_.now());
}

void ServerCore::sleep(Acceptor& acceptor) {
  look_at_cpus();
  doorbell_.prepare();
  if (clients_) clients_->rings().announce();
  // Only from here on is a ring certain to be heard, so look once more at everything that rings.
  const bool worked = work(acceptor) || acceptor.has_news();
  acceptor.wait(worked ? std::optional(Nanoseconds::zero()) : limit());
  doorbell_.cancel();
  if (clients_) clients_->rings().retract();
}

// Returns the time after which the server must act even if nothing has happened.
std::optional<Nanoseconds> ServerCore::limit() const {
  std::optional<Nanoseconds> next;
  const auto by = [&next](std::optional<Nanoseconds> due) {
    if (due && *due != Nanoseconds::max()) next = std::min(next.value_or(*due), *due);
  };
  if (!had_client_ && options_.first_client_in) by(began_ + *options_.first_client_in);
  by(alone_until_);
  if (actions_ != nullptr) by(actions_->deadline());
  if (engine_ != nullptr) by(engine_->due());
  by(absent_due());
  if (!next) return std::nullopt;
  return std::max(*next - clock_.now(), Nanoseconds::zero());
}

Status ServerCore::unwritten() const { return clients_ ? clients_->members().unwritten() : Status(); }

bool ServerCore::finish() {
  while (engine_ != nullptr && !engine_->idle()) {
    doorbell_.prepare();
    engine_->progress(Urgency::waiting);
    if (engine_->idle()) break;
    std::optional<Nanoseconds> limit = engine_->due();
    if (limit) limit = std::max(*limit - clock_.now(), Nanoseconds::zero());
    doorbell_.sleep(limit);
  }
  if (actions_ != nullptr) actions_->finish();
  // A client that has not arrived by now must not join the next run, whether or not others waited for it. But
  // draining declares the job over.
  const auto came_to_run = came().size();
  const bool is_incomplete =
      came_to_run > 0 && common_->storage.shares_files() && came_to_run < static_cast<size_t>(common_->place.clients);
  if (is_incomplete) ledger_.absent(runs_.times());
  clients_.reset();
  return !options_.drain && (is_incomplete || earlier_run_.is_known());
}

// ---- absent clients ---------------------------------------------------------------------------------------------

Nanoseconds ServerCore::patience() const {
  return std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double>(common_->place.patience));
}

// Looks for clients that never come, and so hold up the shared files of all. Logs it after a while, and gives them up
// after place.patience; at once if no client can come any more; never while one is let in. Returns true if it gave
// them up: then there is more to do.
bool ServerCore::look_for_absent(const Acceptor& acceptor) {
  if (!clients_->members().waits_for_absent() || acceptor.lets_in()) {
    waits_since_.reset();
    return false;
  }
  const Nanoseconds now = clock_.now();
  if (!waits_since_) waits_since_ = now;
  if (options_.drain || now >= *waits_since_ + patience()) {
    clients_->give_up_absent(options_.drain ? ", since the job is over"
                                            : fmt::format(", after place.patience of {} s", common_->place.patience));
    return true;
  }
  if (warned_of_absent_ || now < *waits_since_ + std::min(kMissingFor, patience() / 2)) return false;
  warned_of_absent_ = true;
  log_.warning(
      "files wait for clients that have not come: found {} ({}), expected {}, as place.clients says; they are "
      "given up after place.patience of {} s",
      came().size(), fmt::join(came(), ", "), common_->place.clients, common_->place.patience);
  return false;
}

// Returns when look_for_absent() has to act.
std::optional<Nanoseconds> ServerCore::absent_due() const {
  if (!waits_since_) return std::nullopt;
  return *waits_since_ + (warned_of_absent_ ? patience() : std::min(kMissingFor, patience() / 2));
}

}  // namespace tailrace::impl
