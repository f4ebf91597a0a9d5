// Translates the answers of forwarders to calls into the terms of the storage port.
#pragma once

#include <string>

#include "model/wire/forward_wire.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl {

// Returns the Status of an answered call on `file`.
Status status_of(const ForwardAnswer& answer, const std::string& operation, const std::string& file);
// Returns the stripe map of a file that was opened.
StripeMap stripes_in(const ForwardAnswer& answer);
// Returns the facts that a `stat` has found.
NameFacts facts_in(const ForwardAnswer& answer);

}  // namespace tailrace::impl
