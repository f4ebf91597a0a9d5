// ClientBlock: a block of a variable in this client: its present shape and position.
#pragma once

#include <cstdint>
#include <vector>

#include "damaris/output/block_shape.hpp"
#include "damaris/run/parameters.hpp"
#include "damaris/xml/model.hpp"

namespace tailrace::damaris {

class ClientBlock {
 public:
  // Borrows both.
  ClientBlock(const Layout& layout, const Parameters& parameters)
      : layout_(&layout), parameters_(&parameters), position_(layout.dimensions.size(), 0) {}

  size_t element() const { return size_of(layout_->type); }
  // Where the block begins in the whole array.
  const std::vector<int64_t>& position() const { return position_; }
  void move(const int64_t* position) { position_.assign(position, position + position_.size()); }

  // Returns the shape that the present parameters give. Throws ExpressionError.
  const BlockShape& shape() {
    if (version_ == parameters_->version()) return shape_;
    shape_ = shape_of(*layout_, [this](const std::string& name) { return parameters_->integer(name); });
    version_ = parameters_->version();
    return shape_;
  }

 private:
  const Layout* layout_;
  const Parameters* parameters_;
  std::vector<int64_t> position_;
  BlockShape shape_;
  uint64_t version_ = 0;  // of the parameters that the shape is from
};

}  // namespace tailrace::damaris
