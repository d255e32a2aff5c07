// A whole trace in Chrome Trace Event JSON in memory, gone through once with simdjson, for readers
// that want but a few of its words, as they stand there:
//
//   auto text = read_trace_text(*source, std::uint64_t{1} << 30);
//   parser.iterate(padded(*text)).get(document);
//   walk_trace(document, has_events,
//              [&](ondemand::value event) { … },                        // of traceEvents, in order
//              [&](std::string_view key, ondemand::value value) { … })  // beside traceEvents
//
// What is called returns a simdjson::error_code; any but SUCCESS ends the walk with it.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::chrome {

// The text of a file, decompressed, with room behind it as simdjson wants it. A byte order mark is
// left out, and an array that lacks its closing bracket gets it: Chrome takes such files, and
// writers that were stopped leave them. An input error beyond `limit` bytes.
Result<std::string> read_trace_text(ByteSource& source, std::uint64_t limit);

inline simdjson::padded_string_view padded(const std::string& text) {
  return simdjson::padded_string_view(text.data(), text.size(), text.capacity());
}

// Instead of `length` bytes from byte `at` on.
struct TextChange {
  std::size_t at = 0;
  std::size_t length = 0;
  std::string text;
};
// Appends `text` with the changes, in any order; what would reach into another change or lies
// outside is passed over.
void append_changed(std::string& out, std::string_view text, std::vector<TextChange> changes);

// visit(std::string_view key, ondemand::value value), for each member in order.
template <class Visit>
simdjson::error_code walk_members(simdjson::simdjson_result<simdjson::ondemand::object> members,
                                  Visit&& visit) {
  simdjson::ondemand::object object;
  if (const auto error = std::move(members).get(object)) return error;
  for (auto item : object) {
    simdjson::ondemand::field field;
    if (const auto error = std::move(item).get(field)) return error;
    std::string_view key;
    if (const auto error = field.unescaped_key().get(key)) return error;
    if (const auto error = visit(key, field.value())) return error;
  }
  return simdjson::SUCCESS;
}

template <class Visit>
simdjson::error_code walk_elements(simdjson::simdjson_result<simdjson::ondemand::array> elements,
                                   Visit&& visit) {
  simdjson::ondemand::array array;
  if (const auto error = std::move(elements).get(array)) return error;
  for (auto item : array) {
    simdjson::ondemand::value value;
    if (const auto error = std::move(item).get(value)) return error;
    if (const auto error = visit(value)) return error;
  }
  return simdjson::SUCCESS;
}

// `document` is an array of events or an object with one as its traceEvents; `has_events` says
// whether it was either.
template <class Event, class Other>
simdjson::error_code walk_trace(simdjson::ondemand::document& document, bool& has_events,
                                Event&& visit_event, Other&& visit_other) {
  simdjson::ondemand::json_type type;
  if (const auto error = document.type().get(type)) return error;
  if (type == simdjson::ondemand::json_type::array) {
    has_events = true;
    return walk_elements(document.get_array(), visit_event);
  }
  if (type != simdjson::ondemand::json_type::object) return simdjson::SUCCESS;
  return walk_members(document.get_object(),
                      [&](std::string_view key, simdjson::ondemand::value value) {
                        simdjson::ondemand::array events;
                        if (key != "traceEvents" || value.get_array().get(events)) {
                          return visit_other(key, value);
                        }
                        has_events = true;
                        return walk_elements(std::move(events), visit_event);
                      });
}

}  // namespace npuscope::chrome
