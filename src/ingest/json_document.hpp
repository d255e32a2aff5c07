// A file that is one JSON document, read whole:
//
//   return read_json_document(source, 1 << 28, "a Genie profile", "copy it again",
//                             [&](const simdjson::dom::element& document) { … });
//
// What the function returns, or an input error that says what the file should be and what to do.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "base/try.hpp"
#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope {

template <class Take>
auto read_json_document(ByteSource& source, std::uint64_t max_bytes, std::string_view what,
                        std::string_view advice, const Take& take)
    -> decltype(take(simdjson::dom::element())) {
  TRY_AS(text, read_all(source, max_bytes));
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  const simdjson::padded_string padded(without_byte_order_mark(*text));
  if (const auto error = parser.parse(padded).get(document)) {
    return input_error("{}: {} that is not JSON ({}); {}", source.name(), what,
                       simdjson::error_message(error), advice);
  }
  return take(document);
}

}  // namespace npuscope
