// OpenTicket: a ticket that no verb has carried to the server yet. It goes back into the table unless one does, since
// nothing else would ever end it.
#pragma once

#include <cstdint>
#include <utility>

#include "channel/ticket_table.hpp"

namespace tailrace::impl {

class OpenTicket {
 public:
  // Owns the ticket. Borrows the table.
  OpenTicket(TicketTable<>& table, uint64_t number) : table_(&table), number_(number) {}
  OpenTicket(OpenTicket&& other) noexcept : table_(std::exchange(other.table_, nullptr)), number_(other.number_) {}
  OpenTicket& operator=(OpenTicket&&) = delete;
  ~OpenTicket() {
    if (table_ != nullptr) table_->withdraw(number_);
  }

  uint64_t number() const { return number_; }
  // Notes that a verb has carried it to the server, which ends it; returns its number.
  uint64_t sent() {
    table_ = nullptr;
    return number_;
  }

 private:
  TicketTable<>* table_;  // null: no longer owned
  uint64_t number_;
};

}  // namespace tailrace::impl
