#include "damaris/run/store_client.hpp"

#include <algorithm>
#include <new>

#include "damaris/include/Damaris.h"
#include "damaris/ranks/failure.hpp"

namespace tailrace::damaris {
namespace {

bool carried_out(tailrace_status status) { return status == TAILRACE_OK || status == TAILRACE_EARLIER_FAILURE; }

}  // namespace

StoreClient::StoreClient(const Model& model, const Outlet& outlet, int client, Expression::Lookup present)
    : scripts_(outlet.scripts),
      shared_(outlet.scripts || model.stores[outlet.store].mode == FileMode::collective),
      positioned_(!outlet.scripts && model.stores[outlet.store].xdmf != XdmfMode::none),
      joint_(outlet.is_joint()),
      frequency_(outlet.scripts ? 1 : model.stores[outlet.store].frequency),
      present_(std::move(present)) {
  for (StoredBlock& names : blocks_of(model, outlet)) {
    const size_t count = names.shape.size() * (shared_ ? 3 : positioned_ ? 2 : 1);
    layouts_.push_back(&model.layouts[model.variables[names.variable].layout]);
    targets_.push_back({std::move(names), std::vector<int64_t>(count, 0), {}, std::nullopt});
  }
  const std::string text = configuration_of(model, outlet);
  tailrace_open_options options{};
  options.struct_size = sizeof options;
  options.config_text = text.c_str();
  const std::string name = outlet.scripts ? "(scripts)" : "(store " + model.stores[outlet.store].name + ")";
  const tailrace_status status = tailrace_open_with(name.c_str(), client, &options, &client_);
  if (status == TAILRACE_OK) return;
  tailrace_error error{};
  error.struct_size = sizeof error;
  const bool explained = tailrace_last_error(nullptr, &error) == TAILRACE_OK && error.status != TAILRACE_OK;
  throw Failure(DAMARIS_INIT_ERROR, explained ? error.message : tailrace_status_text(status));
}

StoreClient::~StoreClient() {
  if (client_ != nullptr) (void)close();
}

Outcome StoreClient::outcome_of(tailrace_status status, const char* call) {
  return {check(client_, status, call), carried_out(status)};
}

// Tells tailrace the global shapes of all blocks. All nodes compute from them where the arrays lie.
Outcome StoreClient::tell_globals(int64_t iteration) {
  if (!joint_ || placed_ == iteration) return {};
  std::vector<tailrace_parameter> parameters;
  std::vector<std::pair<Target*, std::vector<int64_t>>> sent;
  for (size_t index = 0; index < targets_.size(); ++index) {
    Target& target = targets_[index];
    BlockShape shape;
    try {
      shape = shape_of(*layouts_[index], present_);
    } catch (const ExpressionError&) {
      continue;  // the program sets its parameters later
    }
    const std::vector<int64_t> global(shape.global.begin(), shape.global.end());
    const auto rank = static_cast<std::ptrdiff_t>(global.size());
    if (std::equal(global.begin(), global.end(), target.sent.begin() + rank)) continue;
    // The block gets its shape and position when it comes. Until then it has no elements, which fit everywhere.
    for (size_t axis = 0; axis < global.size(); ++axis) {
      parameters.push_back({target.names.shape[axis].c_str(), 0});
      parameters.push_back({target.names.global[axis].c_str(), global[axis]});
      parameters.push_back({target.names.offset[axis].c_str(), 0});
    }
    std::vector<int64_t> now(target.sent.size(), 0);
    std::copy(global.begin(), global.end(), now.begin() + rank);
    sent.emplace_back(&target, std::move(now));
  }
  tailrace_status status = TAILRACE_OK;
  if (!parameters.empty()) status = tailrace_set_parameters(client_, parameters.data(), parameters.size());
  const Outcome told = outcome_of(status, "the dimensions of all blocks");
  if (!told.done) return told;
  for (auto& [target, now] : sent) target->sent = std::move(now);
  placed_ = iteration;
  return told;
}

// Tells tailrace the block's present numbers, if they have changed.
Outcome StoreClient::place(Target& target, const BlockShape& shape, const std::vector<int64_t>& position,
                           int64_t iteration) {
  const Outcome told = tell_globals(iteration);
  if (!told.done) return told;
  std::vector<int64_t> now(shape.inner.begin(), shape.inner.end());
  if (shared_) now.insert(now.end(), shape.global.begin(), shape.global.end());
  // Nothing is stored for scripts: the whole need not be large enough for the block.
  for (size_t axis = 0; scripts_ && axis < position.size(); ++axis) {
    int64_t& whole = now[shape.inner.size() + axis];
    whole = std::max(whole, position[axis] + now[axis]);
  }
  if (shared_ || positioned_) now.insert(now.end(), position.begin(), position.end());
  if (now == target.sent) return told;
  std::vector<const std::string*> names;
  for (const std::string& name : target.names.shape) names.push_back(&name);
  for (const std::string& name : target.names.global) {
    if (shared_) names.push_back(&name);
  }
  for (const std::string& name : target.names.offset) names.push_back(&name);
  std::vector<tailrace_parameter> parameters;
  for (size_t i = 0; i < now.size(); ++i) parameters.push_back({names[i]->c_str(), now[i]});
  const Outcome placed =
      outcome_of(tailrace_set_parameters(client_, parameters.data(), parameters.size()), "the dimensions of a block");
  if (placed.done) target.sent = std::move(now);
  return both(told, placed);
}

Outcome StoreClient::copy_without_ghosts(Target& target, const BlockShape& shape, size_t element, int64_t iteration,
                                         const void* data) {
  void* memory = nullptr;
  const char* const name = target.names.name.c_str();
  const Outcome allocated = outcome_of(tailrace_alloc(client_, name, iteration, &memory), "damaris_write");
  if (!allocated.done) return allocated;
  copy_inside(shape, element, data, memory);
  const Outcome committed = outcome_of(tailrace_commit(client_, name, iteration), "damaris_write");
  target.left = committed.done ? std::nullopt : std::optional(iteration);
  return both(allocated, committed);
}

Outcome StoreClient::write(size_t index, ClientBlock& block, int64_t iteration, const void* data) {
  Target& target = targets_[index];
  const Outcome placed = place(target, block.shape(), block.position(), iteration);
  if (!placed.done) return placed;
  const BlockShape& shape = block.shape();
  const Outcome written =
      shape.has_ghosts()
          ? copy_without_ghosts(target, shape, block.element(), iteration, data)
          : outcome_of(tailrace_write(client_, target.names.name.c_str(), iteration, data), "damaris_write");
  return both(placed, written);
}

StoreClient::Lent* StoreClient::find(Target& target, int64_t iteration) {
  const auto found = std::find_if(target.lent.begin(), target.lent.end(),
                                  [iteration](const Lent& one) { return one.iteration == iteration; });
  return found == target.lent.end() ? nullptr : &*found;
}

const void* StoreClient::memory_of(size_t index, int64_t iteration) {
  const Lent* const lent = find(targets_[index], iteration);
  return lent == nullptr ? nullptr : lent->data;
}

int StoreClient::alloc(size_t index, ClientBlock& block, int64_t iteration, void** memory) {
  Target& target = targets_[index];
  if (const Lent* there = find(target, iteration)) {
    if (there->committed) return DAMARIS_ALLOCATION_ERROR;
    *memory = there->data;
    return DAMARIS_OK;
  }
  const Outcome placed = place(target, block.shape(), block.position(), iteration);
  if (!placed.done) return placed.code;
  Lent lent;
  lent.iteration = iteration;
  lent.shape = block.shape();
  int code = DAMARIS_OK;
  if (block.shape().has_ghosts()) {
    lent.own.reset(new (std::nothrow) std::byte[block.shape().elements_in_memory() * block.element()]);
    lent.data = lent.own.get();
    if (lent.data == nullptr) return DAMARIS_ALLOCATION_ERROR;
  } else {
    const Outcome allocated =
        outcome_of(tailrace_alloc_kept(client_, target.names.name.c_str(), iteration, &lent.data, &lent.memory),
                   "damaris_alloc");
    if (!allocated.done) return allocated.code;
    code = allocated.code;
  }
  *memory = lent.data;
  target.lent.push_back(std::move(lent));
  return first_of(placed.code, code);
}

Outcome StoreClient::commit(size_t index, ClientBlock& block, int64_t iteration) {
  Target& target = targets_[index];
  Lent* const lent = find(target, iteration);
  if (lent == nullptr || lent->committed) return {DAMARIS_BLOCK_NOT_FOUND, false};
  Outcome result;
  if (lent->own) {
    const Outcome placed = place(target, lent->shape, block.position(), iteration);
    if (!placed.done) return placed;
    result = both(placed, copy_without_ghosts(target, lent->shape, block.element(), iteration, lent->data));
  } else {
    result = outcome_of(tailrace_commit(client_, target.names.name.c_str(), iteration), "damaris_commit");
  }
  lent->committed = result.done;
  return result;
}

void StoreClient::release(Lent& lent) { tailrace_release(lent.memory); }

int StoreClient::clear(size_t index, int64_t iteration) {
  Target& target = targets_[index];
  Lent* const lent = find(target, iteration);
  if (lent == nullptr || !lent->committed) return DAMARIS_BLOCK_NOT_FOUND;
  release(*lent);
  target.lent.erase(target.lent.begin() + (lent - target.lent.data()));
  return DAMARIS_OK;
}

// Gives tailrace a block back that will not be committed: it writes nothing of a variable that is off.
int StoreClient::discard(const Target& target, int64_t iteration) {
  const char* const name = target.names.name.c_str();
  const char* const call = "damaris_end_iteration";
  const Outcome off = outcome_of(tailrace_enable(client_, name, 0), call);
  if (!off.done) return off.code;
  const int code = check(client_, tailrace_commit(client_, name, iteration), call);
  return first_of(off.code, first_of(code, check(client_, tailrace_enable(client_, name, 1), call)));
}

// Takes memory back that is not committed, or that the program has not cleared for a whole iteration.
int StoreClient::take_back(int64_t iteration) {
  int code = DAMARIS_OK;
  for (Target& target : targets_) {
    const auto old = std::remove_if(target.lent.begin(), target.lent.end(), [&](Lent& lent) {
      if (lent.committed) {
        if (lent.iteration < iteration) release(lent);
        return lent.iteration < iteration;
      }
      say("damaris_end_iteration: '" + target.names.name + "' is allocated and not committed in iteration " +
          std::to_string(lent.iteration) + ": it is not written");
      code = first_of(code, DAMARIS_BLOCK_NOT_FOUND);
      if (lent.memory != nullptr) code = first_of(code, discard(target, lent.iteration));
      release(lent);
      return true;
    });
    target.lent.erase(old, target.lent.end());
    if (target.left) code = first_of(code, discard(target, *target.left));
    target.left.reset();
  }
  return code;
}

int StoreClient::end_iteration(int64_t iteration, bool wait) {
  int code = take_back(iteration);
  if (joint_ && iteration % frequency_ != 0) return code;
  ends_.push_back(iteration);
  code = first_of(code, tell_ends());
  if (wait) code = first_of(code, check(client_, tailrace_flush(client_), "damaris_end_iteration"));
  return code;
}

// Tells tailrace that iterations have ended. The program cannot repeat a call that was refused, as its next iteration
// has begun: if it is the server that does not answer, the next end tells it again.
int StoreClient::tell_ends() {
  int code = DAMARIS_OK;
  while (!ends_.empty()) {
    const Outcome ended = outcome_of(tailrace_end_iteration(client_, ends_.front()), "damaris_end_iteration");
    code = first_of(code, ended.code);
    if (!ended.done && ended.code == DAMARIS_CHANNEL_ERROR) break;
    ends_.erase(ends_.begin());
  }
  return code;
}

int StoreClient::close() {
  for (Target& target : targets_) {
    for (Lent& lent : target.lent) release(lent);
    target.lent.clear();
  }
  const int ended = tell_ends();
  const int code = first_of(ended, check(client_, tailrace_close(client_), "damaris_stop"));
  client_ = nullptr;
  return code;
}

}  // namespace tailrace::damaris
