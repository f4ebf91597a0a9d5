// ClientLayouts: the present layouts of a client's variables, by the parameters that it has set.
//
// Runs on the server's thread.
#pragma once

#include <vector>

#include "model/block.hpp"
#include "model/declarations.hpp"
#include "model/shapes.hpp"
#include "model/wire/descriptor_wire.hpp"

namespace tailrace::impl {

class ClientLayouts {
 public:
  // Borrows `declared`. `budget`: the most bytes of a block.
  ClientLayouts(const Declarations& declared, uint64_t budget, int client)
      : declared_(declared), client_(client), shapes_(declared, budget) {}

  // Returns the verb's block, with the present layout of its variable.
  Block block_of(const Descriptor& descriptor) const {
    return {descriptor.variable, descriptor.iteration, client_, shapes_.of(descriptor.variable), shapes_.all()};
  }
  const Shapes& shapes() const { return shapes_; }

  // Returns ok if a setting (Verb::parameter) fits those before it, and makes valid layouts.
  Status check(const Descriptor& descriptor) const;
  // Notes a setting. The last of those that take effect together changes the layouts.
  Status set(const Descriptor& descriptor);

 private:
  const Declarations& declared_;
  const int client_;
  Shapes shapes_;
  std::vector<Shapes::Setting> settings_;  // that wait for the last of those that take effect together
};

}  // namespace tailrace::impl
