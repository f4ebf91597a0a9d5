#include "transport/tcp/peer.hpp"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>
#include <utility>

namespace tailrace::impl {

Connection* Peer::find(PeerId id) {
  if (first_->id() == id) return first_.get();
  const auto found =
      std::find_if(further_.begin(), further_.end(), [id](const auto& further) { return further->id() == id; });
  return found != further_.end() ? found->get() : nullptr;
}

Status Peer::invite(uint64_t most, Nanoseconds until) {
  Invitation invitation{.peer = first_->id(), .most = most};
  if (RAND_bytes(reinterpret_cast<unsigned char*>(invitation.secret.data()), sizeof(JoinSecret)) != 1) {
    return Status(TAILRACE_UNSUPPORTED, "the system has no random bytes");
  }
  first_->invite(invitation);
  invitation_ = invitation;
  until_ = until;
  return {};
}

bool Peer::take_in(std::unique_ptr<Connection>& further, Nanoseconds now) {
  if (!invitation_ || invitation_->most == 0 || now >= until_) return false;
  const JoinSecret& named = further->asks()->secret;
  if (CRYPTO_memcmp(named.data(), invitation_->secret.data(), named.size()) != 0) return false;
  --invitation_->most;
  further->join(first_->transfers());
  further_.push_back(std::move(further));
  return true;
}

Peer::News Peer::settle(std::vector<TransportEvent>& events, std::vector<PeerId>& closed) {
  for (const auto& further : further_) {
    further->take_events(events);
    const bool failed = further->phase() == Connection::Phase::failed;
    if (failed && further->has_joined() && !further->is_left()) first_->fail(further->why());
    has_lost_one_ = has_lost_one_ || (failed && further->has_joined());
  }
  first_->take_events(events);
  const bool is_lost = first_->phase() == Connection::Phase::failed;
  std::erase_if(further_, [&](const auto& further) {
    const bool has_ended = is_lost || further->phase() == Connection::Phase::failed;
    if (has_ended) closed.push_back(further->id());
    return has_ended;
  });
  is_shared_ = std::any_of(further_.begin(), further_.end(), [](const auto& one) { return one->has_joined(); });
  first_->deal_itself(!is_shared_);
  if (is_lost) return std::exchange(was_lost_, true) ? News::none : News::lost;
  const bool is_open = first_->phase() == Connection::Phase::open;
  return is_open && !std::exchange(was_open_, true) ? News::opened : News::none;
}

void Peer::look_after(Nanoseconds now, Nanoseconds silence, std::vector<PeerId>& busy) {
  bool is_over = has_lost_one_ && now - lost_one_.value_or(now) >= silence;
  if (has_lost_one_ && !lost_one_) lost_one_ = now;
  for (const auto& further : further_) {
    if (!further->has_joined()) continue;
    is_over = further->is_silent(now, silence) || is_over;
    further->beat();
    busy.push_back(further->id());
  }
  if (is_over) first_->fail(Status(TAILRACE_TIMEOUT, "one of its further connections is silent"));
}

void Peer::deal(std::vector<PeerId>& busy) {
  while (is_shared_) {
    Connection* least = first_.get();
    for (const auto& further : further_) {
      if (further->has_joined() && further->writer().pieces() < least->writer().pieces()) least = further.get();
    }
    if (least->writer().pieces() >= kMostPieces) return;
    const std::optional<Transfers::Piece> piece = first_->transfers()->next_piece();
    if (!piece) return;
    least->writer().add(*piece);
    busy.push_back(least->id());
  }
}

std::vector<std::unique_ptr<Connection>> Peer::leave() {
  std::vector<std::unique_ptr<Connection>> all = std::move(further_);
  all.push_back(std::move(first_));
  for (const auto& connection : all) connection->leave();
  return all;
}

}  // namespace tailrace::impl
