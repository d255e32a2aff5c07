#include "report/graph/graph_drawing.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "npuscope/profile/intervals.hpp"
#include "report/document/document.hpp"
#include "report/document/document_value.hpp"
#include "report/graph/graph_tables.hpp"
#include "report/picture/figure.hpp"

namespace npuscope::report {
namespace {

// Ops that only bring something to another op: transfers that no op makes anything for, of
// constants as far as the profile tells tensors apart, through multicast too, and transfers and
// bookkeeping of the same node that no edge connects. A drawing shows them with that op.
//
//   const std::vector<OpId> owners = owners_of_loads(view);
//   owners[index_of(weights_of_matmul_0)]    MatMul_0's kernel
//   owners[index_of(matmul_0)]               OpId::none: it is no load
class Loads {
 public:
  explicit Loads(const GraphView& view)
      : profile_(view.profile), graph_(view.graph), times_(view.times), facts_(view.facts) {
    uses_data_.assign(graph_.size(), 0);
    for (const TensorUse& use : profile_.tensor_uses) {
      if (index_of(use.consumer) >= graph_.size() || use.tensor >= profile_.tensors.size())
        continue;
      const Tensor& tensor = profile_.tensors[use.tensor];
      if (!tensor.is_shape && !tensor.is_constant) uses_data_[index_of(use.consumer)] = 1;
    }
    find_kernels();
    find_sources();
  }

  // The last of a chain is found first.
  std::vector<OpId> owners() const {
    std::vector<OpId> owners(graph_.size(), OpId::none);
    for (int step = 0; step < max_chain; ++step) {
      for (std::uint32_t op = 0; op < graph_.size(); ++op) {
        if (is_source_[op] && owners[op] == OpId::none) owners[op] = owner_of(op, owners);
      }
    }
    return owners;
  }

 private:
  static constexpr int max_chain = 4;  // DDR to VTCM, multicast, a copy or two within VTCM

  bool is_movement(std::uint32_t op) const {
    const Engine said = profile_.ops[op].engine;
    const std::uint32_t unit = index_of(times_.unit[op]);
    const Engine ran = unit < profile_.units.size() ? profile_.units[unit].engine : Engine::none;
    return analysis::domain_of(said != Engine::none ? said : ran) == analysis::Domain::movement;
  }

  // Of each node the op that computes, the one with most work.
  void find_kernels() {
    for (std::uint32_t op = 0; op < graph_.size(); ++op) {
      if (!facts_.compiled[op] || profile_.ops[op].node == StringId::empty || is_movement(op))
        continue;
      const auto [place, is_new] = kernel_of_node_.try_emplace(profile_.ops[op].node, op);
      if (!is_new && times_.work[op] > times_.work[place->second]) place->second = op;
    }
  }

  std::optional<std::uint32_t> kernel_of(std::uint32_t op) const {
    const auto place = kernel_of_node_.find(profile_.ops[op].node);
    if (place == kernel_of_node_.end()) return std::nullopt;
    return place->second;
  }

  // Movements that have data of no op that computes: nothing leads to them, or only such movements
  // do. Reused memory carries no data.
  void find_sources() {
    is_source_.assign(graph_.size(), 0);
    for (int step = 0; step < max_chain; ++step) {
      const std::vector<std::uint8_t> before = is_source_;
      const auto has_other_data = [&](std::uint32_t edge) {
        const Edge& each = graph_.edges()[edge];
        return each.kind != EdgeKind::reuse && !before[index_of(each.from)];
      };
      for (std::uint32_t op = 0; op < graph_.size(); ++op) {
        if (!facts_.compiled[op] || before[op] || !is_movement(op)) continue;
        is_source_[op] = std::ranges::none_of(graph_.to(OpId(op)), has_other_data);
      }
    }
  }

  // None: it is no load, or its consumer's owner is not found yet.
  OpId owner_of(std::uint32_t op, const std::vector<OpId>& owners) const {
    OpId consumer = OpId::none;
    for (const Edge& edge : graph_.from(OpId(op))) {
      if (edge.kind == EdgeKind::reuse) continue;
      if (consumer != OpId::none && !are_of_one_node(edge.to, consumer)) return OpId::none;
      if (consumer == OpId::none) consumer = edge.to;
    }
    if (consumer == OpId::none) {
      const auto kernel = kernel_of(op);
      return kernel ? OpId(*kernel) : OpId::none;
    }
    const bool is_load = !uses_data_[op] || are_of_one_node(OpId(op), consumer);
    if (!is_load) return OpId::none;
    return is_movement(index_of(consumer)) ? owners[index_of(consumer)] : consumer;
  }

  bool are_of_one_node(OpId a, OpId b) const {
    const StringId node = profile_.ops[index_of(a)].node;
    return a == b || (node != StringId::empty && node == profile_.ops[index_of(b)].node);
  }

  const Profile& profile_;
  const analysis::OpGraph& graph_;
  const analysis::OpTimes& times_;
  const analysis::GraphFacts& facts_;
  std::vector<std::uint8_t> uses_data_;  // by op: a tensor that is no constant
  std::vector<std::uint8_t> is_source_;  // by op
  std::unordered_map<StringId, std::uint32_t> kernel_of_node_;
};

// By op.
std::vector<OpId> owners_of_loads(const GraphView& view) { return Loads(view).owners(); }

constexpr std::uint32_t not_drawn = std::numeric_limits<std::uint32_t>::max();

Engine engine_of_op(const GraphView& view, std::uint32_t op) {
  const Engine said = view.profile.ops[op].engine;
  if (said != Engine::none) return said;
  const std::uint32_t unit = index_of(view.times.unit[op]);
  return unit < view.profile.units.size() ? view.profile.units[unit].engine : Engine::none;
}

class Drawer {
 public:
  Drawer(const GraphView& view, const DrawOptions& options) : view_(view), options_(options) {}

  Result<Drawing> draw() {
    drawing_.profile = &view_.profile;
    drawing_.scope = scope_of(view_);
    box_of_op_.assign(view_.graph.size(), not_drawn);
    owners_.assign(view_.graph.size(), OpId::none);
    if (!options_.loads) owners_ = owners_of_loads(view_);
    for (std::uint32_t op = 0; op < view_.graph.size(); ++op) {
      if (view_.times.ran(OpId(op))) {
        drawing_.work = saturating_add(drawing_.work, view_.times.work[op]);
      }
    }
    if (options_.only.empty()) {
      for (std::uint32_t op = 0; op < view_.graph.size(); ++op) {
        if (view_.facts.compiled[op]) put(op);
      }
    } else {
      keep_loads_of_others();
      for (const OpId op : options_.only) put(index_of(op));
    }
    for (std::uint32_t op = 0; op < view_.graph.size(); ++op) put_load(op);
    if (boxes_ > max_drawn) {
      return usage_error(
          "the drawing would have {} boxes, and no more than {} can be read; draw what is --around "
          "an op, select ops with --op, or draw --by name, node or kind",
          boxes_, max_drawn);
    }
    put_edges();
    return std::move(drawing_);
  }

 private:
  using Key = std::tuple<std::uint32_t, std::uint32_t>;

  Key key_of(std::uint32_t op) const {
    const Op& row = view_.profile.ops[op];
    const StringId node = row.label();
    switch (options_.by) {
      case DrawBy::op: return {op, 0};
      case DrawBy::name: return {std::uint32_t(row.name), std::uint32_t(row.kind)};
      case DrawBy::kind: return {std::uint32_t(row.kind), 0};
      case DrawBy::node: return {std::uint32_t(node), 0};
    }
    return {op, 0};
  }

  void put(std::uint32_t op) {
    if (owners_[op] != OpId::none) return;
    const auto [place, is_new] = box_of_key_.try_emplace(key_of(op), boxes_);
    boxes_ += is_new;
    box_of_op_[op] = place->second;
    if (boxes_ > max_drawn) return;  // only the number of boxes is needed
    if (is_new) add_box(op);
    DrawnNode& box = drawing_.nodes[place->second];
    ++box.ops;
    add_work(op, box);
  }

  void add_work(std::uint32_t op, DrawnNode& box) const {
    if (!view_.times.ran(OpId(op))) return;
    box.work = saturating_add(std::max<std::int64_t>(box.work, 0), view_.times.work[op]);
  }

  // A load that is asked for without its owner is an op like any other.
  void keep_loads_of_others() {
    std::vector<std::uint8_t> is_asked(view_.graph.size(), 0);
    for (const OpId op : options_.only) is_asked[index_of(op)] = 1;
    for (const OpId op : options_.only) {
      OpId& owner = owners_[index_of(op)];
      if (owner != OpId::none && !is_asked[index_of(owner)]) owner = OpId::none;
    }
  }

  // With its owner, where that is drawn.
  void put_load(std::uint32_t op) {
    if (owners_[op] == OpId::none || boxes_ > max_drawn) return;
    const std::uint32_t owner = box_of_op_[index_of(owners_[op])];
    if (owner == not_drawn) return;
    DrawnNode& box = drawing_.nodes[owner];
    ++box.loads;
    add_work(op, box);
  }

  void add_box(std::uint32_t op) {
    const Op& row = view_.profile.ops[op];
    DrawnNode box;
    const bool by_kind = options_.by == DrawBy::kind && row.kind != StringId::empty;
    const bool by_node = options_.by == DrawBy::node && row.node != StringId::empty;
    box.name = std::string(by_kind   ? view_.profile.text(row.kind)
                           : by_node ? view_.profile.text(row.node)
                                     : op_label(view_.profile, OpId(op)));
    if (!by_kind && options_.by != DrawBy::node) box.kind = view_.profile.text(row.kind);
    if (by_node) box.kind = view_.profile.text(row.node_kind);
    box.engine = engine_of_op(view_, op);
    drawing_.nodes.push_back(std::move(box));
  }

  void put_edges() {
    struct Sum {
      std::uint64_t bytes = 0;
      std::uint32_t last = not_drawn;  // producer, whose bytes are counted once
    };
    std::map<std::tuple<std::uint32_t, std::uint32_t, EdgeKind>, Sum> sums;
    for (const Edge& edge : view_.graph.edges()) {
      const std::uint32_t from = box_of_op_[index_of(edge.from)];
      const std::uint32_t to = box_of_op_[index_of(edge.to)];
      if (from == not_drawn || to == not_drawn || from == to) continue;
      if (!options_.edges.has(edge.kind)) continue;
      Sum& sum = sums[{from, to, edge.kind}];
      if (sum.last == index_of(edge.from)) continue;
      sum.last = index_of(edge.from);
      const std::int64_t bytes = view_.profile.ops[sum.last].output.value;
      if (bytes > 0) sum.bytes += std::uint64_t(bytes);
    }
    for (const auto& [key, sum] : sums) {
      drawing_.edges.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), sum.bytes});
    }
  }

  const GraphView& view_;
  const DrawOptions& options_;
  std::map<Key, std::uint32_t> box_of_key_;
  std::vector<std::uint32_t> box_of_op_;
  std::vector<OpId> owners_;  // of loads, by op
  std::uint32_t boxes_ = 0;
  Drawing drawing_;
};

// Inside the quotes of a DOT string. A backslash would begin an escape of DOT's own.
std::string dot_escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

// From one to six, by the power of ten.
int thickness_of(std::uint64_t bytes) {
  int thickness = 1;
  for (std::uint64_t at = 10'000; bytes >= at && thickness < 6; at *= 10) ++thickness;
  return thickness;
}

std::string second_line(const Drawing& drawing, const DrawnNode& node) {
  std::string line;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) line += (line.empty() ? "" : ", ") + text;
  };
  if (node.work >= 0) {
    add(ticks_text(*drawing.profile, drawing.profile->base_clock, double(node.work)));
    if (drawing.work > 0) add(percent_text(double(node.work), double(drawing.work)));
  }
  if (node.ops > 1) add(thousands(node.ops) + " ops");
  if (node.loads > 0) {
    add(counted(node.loads, "load"));
  }
  add(node.kind);
  return line;
}

Result<Drawing> draw_graph(const GraphView& view, const DrawOptions& options) {
  return Drawer(view, options).draw();
}

std::string dot_text(const Drawing& drawing) {
  std::string out =
      "digraph \"compiled graph\" {\n"
      "  node [shape=box, style=filled, fontname=\"sans-serif\"];\n";
  for (std::size_t i = 0; i < drawing.nodes.size(); ++i) {
    const DrawnNode& node = drawing.nodes[i];
    const std::string second = second_line(drawing, node);
    out += fmt::format("  n{} [label=\"{}{}{}\", fillcolor=\"{}\"];\n", i, dot_escaped(node.name),
                       second.empty() ? "" : "\\n", dot_escaped(second),
                       heat_colour(drawing.share_of(node)));
  }
  for (const DrawnEdge& edge : drawing.edges) {
    const char* style = edge.kind == EdgeKind::reuse   ? ", style=dashed"
                        : edge.kind == EdgeKind::order ? ", style=dotted"
                                                       : "";
    out += fmt::format("  n{} -> n{} [penwidth={}{}];\n", edge.from, edge.to,
                       thickness_of(edge.bytes), style);
  }
  return out + "}\n";
}

}  // namespace npuscope::report
