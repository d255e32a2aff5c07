// The compiled graph against the model that it was made from.
#include <fmt/format.h>

#include <array>

#include "npuscope/profile/intervals.hpp"
#include "report/graph/graph_tables.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;

constexpr std::array<const char*, node_fates> fate_words{"kept", "split", "fused", "vanished",
                                                         "unmatched"};
constexpr std::array<const char*, 10> evidence_words{
    "",           "name",  "joined name", "tensor's name", "source line", "derived name",
    "neighbours", "order", "position",    "meaning"};
constexpr std::array<const char*, inserted_kinds> inserted_words{
    "",     "format conversion", "load", "store", "multicast", "spill", "fill", "slice",
    "copy", "reshape",           "sync", "wait",  "statistics"};

// Where nothing but names is known, they are all that there is to go by.
std::span<const std::uint8_t> compiled_ops(const GraphFacts& facts) {
  return facts.ops > 0 ? std::span<const std::uint8_t>(facts.compiled)
                       : std::span<const std::uint8_t>();
}

class ExpectedComparison {
 public:
  ExpectedComparison(const GraphView& view, const ExpectedGraph& expected, std::size_t top)
      : view_(view),
        expected_(expected),
        top_(top),
        match_(match_graph(view.profile, view.graph, expected, compiled_ops(view.facts))) {}

  Section make() {
    Section section{.key = "expected", .title = "AGAINST THE MODEL"};
    std::array<std::uint64_t, node_fates> counts{};
    for (const NodeMatch& node : match_.nodes) ++counts[std::size_t(node.fate)];
    section.facts.push_back({{"model", "model"}, expected_.name});
    section.facts.push_back({{"nodes", "nodes", Format::count}, expected_.nodes.size()});
    static constexpr std::array labels{"  kept as one op", "  split over several ops",
                                       "  fused into others", "  vanished", "  not explained"};
    for (std::size_t i = 0; i < counts.size(); ++i) {
      section.facts.push_back({{fate_words[i], labels[i], Format::count}, counts[i]});
    }
    section.facts.push_back(
        {{"unmatched_ops", "ops of no known node", Format::count}, match_.unmatched_ops.size()});
    add_dependencies(section);
    section.parts = {
        inserted(),
        nodes_of(NodeFate::unmatched, "not_explained", "NOT EXPLAINED"),
        nodes_of(NodeFate::fused, "fused_nodes", "FUSED"),
        nodes_of(NodeFate::vanished, "vanished_nodes", "VANISHED"),
        nodes_of(NodeFate::split, "split_nodes", "SPLIT"),
        nodes_of(NodeFate::kept, "kept_nodes", "KEPT"),
        unmatched_ops(),
        pairs(match_.missing, "missing_dependencies", "DEPENDENCIES NOT KEPT"),
        pairs(match_.unexpected, "unexpected_dependencies", "DEPENDENCIES NOT IN THE MODEL")};
    std::erase_if(section.parts, [](const Section& part) { return part.table.row_count == 0; });
    return section;
  }

 private:
  void add_dependencies(Section& section) const {
    const auto fact = [&](const char* key, const char* label, std::size_t count) {
      section.facts.push_back(
          {{key, label, Format::count}, match_.edges_known ? Value(count) : Value()});
    };
    fact("dependencies", "dependencies between nodes", match_.dependencies);
    fact("dependencies_by_queue", "  by a queue's order alone", match_.by_queue);
    fact("dependencies_missing", "  not kept", match_.missing.size());
    fact("dependencies_unexpected", "links not in the model", match_.unexpected.size());
    if (!match_.edges_known) {
      section.remarks.push_back(
          "The files hold no data edges between ops, so dependencies cannot be compared.");
    }
  }

  Section inserted() const {
    struct Sum {
      std::uint64_t ops = 0;
      std::int64_t work = 0;
    };
    std::array<Sum, inserted_kinds> sums{};
    for (std::uint32_t op = 0; op < match_.inserted.size(); ++op) {
      if (!view_.facts.compiled[op]) continue;
      Sum& sum = sums[std::size_t(match_.inserted[op])];
      ++sum.ops;
      sum.work = saturating_add(sum.work, std::max<std::int64_t>(view_.times.work[op], 0));
    }
    Section section{.key = "inserted", .title = "INSERTED BY THE COMPILER"};
    section.table.fields = {{"what", "what"},
                            {"ops", "ops", Format::count},
                            {"work", "work", Format::ticks, true, true},
                            {"work_share_of_all_work", "of all work", Format::share, true, true}};
    const auto total = double(view_.times.total_work);
    for (std::size_t kind = 1; kind < sums.size(); ++kind) {
      if (sums[kind].ops == 0) continue;
      section.table.rows.push_back({inserted_words[kind], sums[kind].ops,
                                    view_.times.known ? Value(sums[kind].work) : Value(),
                                    total > 0 ? Value(double(sums[kind].work) / total) : Value()});
    }
    section.table.row_count = section.table.rows.size();
    return section;
  }

  Section nodes_of(NodeFate fate, const char* key, const char* title) const {
    Section section{.key = key, .title = title};
    section.table.fields = {{"node", "", Format::count},
                            {"name", "node"},
                            {"op", "operator"},
                            {"evidence", "found by", Format::name, false, true},
                            {"ops", "ops", Format::count, true, true},
                            {"into", "into", Format::name, true, true},
                            {"why", "why", Format::name, true, true}};
    for (std::uint32_t i = 0; i < match_.nodes.size(); ++i) {
      const NodeMatch& node = match_.nodes[i];
      if (node.fate != fate || section.table.row_count++ >= top_) continue;
      const std::string_view evidence = evidence_words[std::size_t(node.evidence)];
      const std::string_view why = node.why;
      section.table.rows.push_back(
          {i, expected_.nodes[i].name, expected_.nodes[i].op,
           evidence.empty() ? Value() : Value(evidence), node.ops > 0 ? Value(node.ops) : Value(),
           node.into == no_node ? Value() : Value(expected_.nodes[node.into].name),
           why.empty() ? Value() : Value(why)});
    }
    return section;
  }

  Section unmatched_ops() const {
    Section section{.key = "ops_of_no_node", .title = "OPS OF NO KNOWN NODE"};
    section.table.fields = {{"op", "", Format::count},
                            {"name", "op"},
                            {"kind", "kind"},
                            {"work", "work", Format::ticks, true, true}};
    section.table.row_count = match_.unmatched_ops.size();
    for (const OpId op : match_.unmatched_ops) {
      if (section.table.rows.size() == top_) break;
      section.table.rows.push_back({op_number(op), op_label(view_.profile, op),
                                    op_kind(view_.profile, op), work_of(view_, op)});
    }
    section.remarks = {
        "They compute, but neither their names nor kind, shape and neighbours tell for which node: "
        "the compiler's own, or of another model."};
    return section;
  }

  Section pairs(const std::vector<NodePair>& from, const char* key, const char* title) const {
    Section section{.key = key, .title = title};
    section.table.fields = {{"from_node", "", Format::count},
                            {"from", "from"},
                            {"to_node", "", Format::count},
                            {"to", "to"}};
    section.table.row_count = from.size();
    for (const NodePair& pair : from) {
      if (section.table.rows.size() == top_) break;
      section.table.rows.push_back(
          {pair.from, expected_.nodes[pair.from].name, pair.to, expected_.nodes[pair.to].name});
    }
    return section;
  }

  const GraphView& view_;
  const ExpectedGraph& expected_;
  std::size_t top_;
  GraphMatch match_;
};

}  // namespace

Section expected_section(const GraphView& view, const ExpectedGraph& expected, std::size_t top) {
  return ExpectedComparison(view, expected, top).make();
}

}  // namespace npuscope::report
