// The documents that the bench programs print. A number that is not finite is not known: null.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace bench {

using Json = nlohmann::ordered_json;

// Its text, ended by a new line. What is no UTF-8 (a directory's name may be anything) is replaced.
inline std::string text_of(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace bench
