// Reads the attributes that the configuration gives: names, and numbers, texts or lists of them.
#pragma once

#include <vector>

#include "config/yaml/yaml_reader.hpp"
#include "model/attribute.hpp"

namespace tailrace::impl {

std::vector<Attribute> read_attributes(const YamlValue& value, AttributeOf of);

}  // namespace tailrace::impl
