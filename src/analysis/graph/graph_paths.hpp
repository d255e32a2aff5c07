// Ways through the compiled graph: from some ops to others, and what lies around one.
//
//   const auto from = find_ops(profile, "--path", "MatMul_0");
//   const OpPath path = shortest_path(graph, *from, *to, EdgeKinds::all());
//   path.ops   // MatMul_0, ForceFormat, MatMul_1; empty: there is no path
//   heaviest_path(graph, order, times, …)   // the one whose ops work longest, one after the other
//   ops_around(graph, *from, 2, kinds)       // all ops at most two edges away, and how far
//
// Linear in ops and edges. A heaviest path does not go round a cycle: edges inside one are not
// followed.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/ops/op_times.hpp"
#include "npuscope/analysis/graph.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::analysis {

// Ops of exactly this name (or, where there is none, node), else those whose name, kind or node the
// text matches as a regular expression. A usage error, with names that are like it, for none.
Result<std::vector<OpId>> find_ops(const Profile& profile, std::string_view where,
                                   std::string_view text);

struct OpPath {
  std::vector<OpId> ops;        // from the first to the last; one where both ends share an op
  std::vector<EdgeKind> edges;  // between them: one less
  std::int64_t work = 0;        // of its ops, where they ran
  bool exists() const { return !ops.empty(); }
};

OpPath shortest_path(const OpGraph& graph, const std::vector<OpId>& from,
                     const std::vector<OpId>& to, EdgeKinds kinds);

// The path of the largest sum of work; of paths of the same work a longer one only if it has to be.
OpPath heaviest_path(const OpGraph& graph, const GraphOrder& order, const OpTimes& times,
                     const std::vector<OpId>& from, const std::vector<OpId>& to, EdgeKinds kinds);

struct NearOp {
  OpId op = OpId::none;
  std::int32_t hops = 0;  // negative: before
};

// By distance, those before first; an op on both sides is where it is nearer.
std::vector<NearOp> ops_around(const OpGraph& graph, const std::vector<OpId>& centre,
                               std::uint32_t hops, EdgeKinds kinds);

}  // namespace npuscope::analysis
