// Adds rows to a profile of Torq.
#pragma once

#include <string_view>
#include <vector>

#include "ingest/units.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::torq {

inline UnitId add_unit(Profile& profile, std::string_view name, Engine engine, UnitId parent,
                       std::uint32_t lane = 0) {
  return npuscope::add_unit(profile, {0, 0, engine, lane, profile.strings.intern(name), parent});
}

// Arrows between the host and the programs that it starts: from a start to its program, and from
// the program to what the host does once it has waited for it.
struct StartedProgram {
  SpanId start = SpanId::none;  // on the host; none: not in the log
  SpanId first = SpanId::none;  // of the program, which is one span or several in their order
  SpanId last = SpanId::none;
  SpanId wait = SpanId::none;
};

void add_program_flows(Profile& profile, UnitId host, const std::vector<StartedProgram>& programs);

// The model's operators as Torq's files name them, "onnx.Conv@L94": an operator and its line in the
// source. Of ONNX alone: those of other dialects are no nodes of an ONNX model.

// A name of another dialect adds nothing.
void add_source_operator(Profile& profile, std::string_view name);

// Where there is no source: those that ops name, by their lines.
void add_source_operators_of_ops(Profile& profile);

}  // namespace npuscope::torq
