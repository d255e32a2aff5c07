#include "report/graph/graph_document.hpp"

#include <fmt/format.h>
#include <array>

#include "analysis/graph/false_dependencies.hpp"
#include "base/counted.hpp"
#include "npu/graph/semantics.hpp"
#include "npuscope/profile/intervals.hpp"
#include "report/graph/graph_tables.hpp"

namespace npuscope::report {
namespace {

analysis::ExpectedRole role_of(const npu::Graph& model, const npu::Node& node) {
  switch (npu::classify(model, node)) {
    case npu::OpClass::folded: return analysis::ExpectedRole::folded;
    case npu::OpClass::view: return analysis::ExpectedRole::view;
    default: return analysis::ExpectedRole::executes;
  }
}

std::vector<std::uint32_t> numbers_of(const std::vector<npu::TensorId>& tensors) {
  std::vector<std::uint32_t> numbers;
  for (const npu::TensorId tensor : tensors) {
    if (tensor != npu::TensorId::none) numbers.push_back(std::uint32_t(tensor));
  }
  return numbers;
}

}  // namespace

analysis::ExpectedGraph expected_graph(const npu::Graph& model) {
  analysis::ExpectedGraph expected;
  expected.name = model.name;
  for (const npu::Tensor& tensor : model.tensors) {
    expected.tensors.push_back({tensor.name, tensor.shape, tensor.constant,
                                tensor.producer == npu::NodeId::none
                                    ? analysis::no_node
                                    : std::uint32_t(tensor.producer)});
  }
  for (const npu::Node& node : model.nodes) {
    expected.nodes.push_back({node.name, node.op, role_of(model, node), numbers_of(node.inputs),
                              numbers_of(node.outputs)});
  }
  expected.outputs = numbers_of(model.outputs);
  return expected;
}

namespace {

// The compiled graph against the model that it was made from.

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
                                    ratio(double(sums[kind].work), total)});
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
          {i, expected_.nodes[i].name, expected_.nodes[i].op, if_any(evidence),
           if_positive(node.ops),
           node.into == no_node ? Value() : Value(expected_.nodes[node.into].name), if_any(why)});
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

namespace {

using namespace analysis;

const char* words(SharingVerdict verdict) {
  switch (verdict) {
    case SharingVerdict::waited: return "waited though free";
    case SharingVerdict::unit_busy: return "apart, but its unit was busy";
    case SharingVerdict::untimed: return "not timed";
  }
  return "";
}

Section shared_section(const GraphView& view, std::size_t top) {
  const Profile& profile = view.profile;
  const SharedTensors shared = shared_tensors(profile, view.graph, view.times);
  Section section{.key = "shared_tensors", .title = "SHARED BY INDEPENDENT BRANCHES"};
  section.facts = {
      {{"small", "small, not reported", Format::count}, shared.small},
      {{"read_only", "  read by known kernels only", Format::count}, shared.read_only},
      {{"dependent_pairs", "  users depend on each other", Format::count}, shared.dependent},
      {{"overlapping", "  users overlap in time", Format::count}, shared.overlapping}};
  section.table.fields = {{"tensor", "", Format::count},
                          {"name", "tensor"},
                          {"shape", "shape", Format::name, false},
                          {"bytes", "size", Format::bytes},
                          {"consumers", "users", Format::count},
                          {"first_op", "", Format::count},
                          {"first", "first"},
                          {"second_op", "", Format::count},
                          {"second", "second"},
                          {"verdict", "in time"},
                          {"waited", "waited", Format::ticks, true, true},
                          {"ordered_by_edges", "", Format::truth}};
  section.table.row_count = shared.findings.size();
  for (const SharedTensor& found : shared.findings) {
    if (section.table.rows.size() == top) break;
    const Tensor& tensor = profile.tensors[found.tensor];
    const std::string name(profile.text(tensor.name));
    section.table.rows.push_back(
        {found.tensor, name.empty() ? fmt::format("tensor {}", found.tensor) : name,
         if_any(profile, tensor.shape), tensor.size.value, found.consumers, op_number(found.first),
         op_label(profile, found.first), op_number(found.second), op_label(profile, found.second),
         words(found.verdict), if_positive(found.waited), found.ordered_by_compiler});
  }
  if (!shared.findings.empty()) {
    section.remarks.push_back(
        "No path of data leads from the first to the second, yet they use one tensor. If either "
        "writes to it, they cannot run at once: give each branch a scratch of its own (different "
        "contents, or a graph input), so that the compiler does not make one of them.");
  }
  if (shared.not_tried > 0) {
    section.remarks.push_back(
        counted(shared.not_tried, "pair of smaller tensors was", "pairs of smaller tensors were") +
        " not tried.");
  }
  return section;
}

Section reuse_section(const GraphView& view, std::size_t top) {
  const Profile& profile = view.profile;
  const ReuseWaits reuse = reuse_waits(view.graph, view.times);
  Section section{.key = "reuse_waits", .title = "WAITS FOR MEMORY REUSE"};
  section.facts = {
      {{"reuse_edges", "reuse edges between ops that ran", Format::count}, reuse.edges},
      {{"ops_waiting", "ops that wait for nothing else", Format::count}, reuse.waits.size()},
      {{"waited_sum", "sum of their waits", Format::ticks}, reuse.sum},
      {{"waited_active", "active waits", Format::ticks}, reuse.active},
      {{"not_kept", "", Format::count}, reuse.not_kept}};
  section.table.fields = {{"op", "", Format::count},
                          {"name", "op"},
                          {"kind", "kind", Format::name, false},
                          {"waits_for_op", "", Format::count},
                          {"waits_for", "waited for"},
                          {"waits_for_kind", "kind", Format::name, false},
                          {"ready", "", Format::ticks},
                          {"waited", "waited", Format::ticks}};
  section.table.row_count = reuse.waits.size();
  for (const ReuseWait& wait : reuse.waits) {
    if (section.table.rows.size() == top) break;
    section.table.rows.push_back({op_number(wait.op), op_label(profile, wait.op),
                                  op_kind(profile, wait.op), op_number(wait.waits_for),
                                  op_label(profile, wait.waits_for),
                                  op_kind(profile, wait.waits_for), wait.ready, wait.waited});
  }
  if (reuse.not_kept > 0) {
    section.remarks.push_back(fmt::format(
        "{} reuse edges lead to an op that began before the other had ended: these times do not "
        "obey them.",
        reuse.not_kept));
  }
  return section;
}

}  // namespace

Section false_dependencies_section(const GraphView& view, std::size_t top) {
  Section section{.key = "false_dependencies", .title = "FALSE DEPENDENCIES"};
  if (view.profile.tensor_uses.empty()) {
    section.remarks.push_back(
        "The files do not say which ops use which tensor, so shared tensors cannot be found.");
  } else {
    section.parts.push_back(shared_section(view, top));
  }
  if (view.facts.edges[std::size_t(EdgeKind::reuse)] > 0 && view.times.known) {
    section.parts.push_back(reuse_section(view, top));
  } else if (view.facts.edges[std::size_t(EdgeKind::reuse)] > 0) {
    section.remarks.push_back("Without a run nothing shows what the reuse of memory costs.");
  }
  return section;
}

}  // namespace npuscope::report
