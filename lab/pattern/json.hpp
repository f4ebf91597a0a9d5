// The documents that the bench programs print. A number that is not finite is unknown: null.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace bench {

using Json = nlohmann::ordered_json;

// Returns its text with a newline at the end. Replaces bytes that are not UTF-8 (a directory's name may be anything).
inline std::string text_of(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace bench
