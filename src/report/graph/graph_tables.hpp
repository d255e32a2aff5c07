// What the tables of a compiled graph have in common: how an op is named in them.
#pragma once

#include <string>

#include "report/document/document.hpp"
#include "report/graph/graph_document.hpp"

namespace npuscope::report {

inline std::string op_label(const Profile& profile, OpId id) {
  if (index_of(id) >= profile.ops.size()) return "(no op)";
  const Op& op = profile.ops[index_of(id)];
  for (const StringId name : {op.name, op.node, op.kind}) {
    if (name != StringId::empty) return std::string(profile.text(name));
  }
  return "op " + std::to_string(index_of(id));
}

inline Value op_kind(const Profile& profile, OpId id) {
  return index_of(id) < profile.ops.size() ? if_any(profile, profile.ops[index_of(id)].kind)
                                           : Value();
}

// The row's number in the tables of ops of every output of the program.
inline Value op_number(OpId id) { return index_of(id); }

inline Value work_of(const GraphView& view, OpId id) {
  return view.times.ran(id) ? Value(view.times.work[index_of(id)]) : Value();
}

Section expected_section(const GraphView& view, const analysis::ExpectedGraph& expected,
                         std::size_t top);
Section false_dependencies_section(const GraphView& view, std::size_t top);

}  // namespace npuscope::report
