#include "analysis/compare/across.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>

#include "analysis/graph/graph_facts.hpp"
#include "analysis/ops/row_names.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace npuscope::analysis {
namespace {

using Members = std::vector<std::uint32_t>;
constexpr std::uint32_t alone = std::numeric_limits<std::uint32_t>::max();

// A row of one side.
struct Node {
  std::string name, kind;
  std::string sort;                   // of its operator, "convolution"; empty: unknown
  std::vector<std::int64_t> extents;  // without ones, sorted: layouts differ; empty: unknown
  std::optional<double> value;
  std::int64_t place = 0;  // in the order of the side
  std::vector<std::uint32_t> model_nodes = {};
  bool has_operator = false;  // its kind is the model's operator, not a kernel
  std::uint32_t set = alone;
  JoinedBy by = JoinedBy::none;
};

// What exporters call the tensor of a node.
std::string_view without_output(std::string_view name) {
  const std::size_t end = name.rfind("_output_");
  const bool is_number = end != name.npos && end > 0 && end + 8 < name.size() &&
                         name.find_first_not_of("0123456789", end + 8) == name.npos;
  return is_number ? name.substr(0, end) : name;
}

std::vector<std::string> keys_of(std::string_view name) {
  std::vector<std::string_view> parts = name_parts(name);
  if (parts.empty()) parts = {name};
  std::vector<std::string> keys;
  for (const std::string_view part : parts) {
    keys.emplace_back(without_output(without_ordinals(part)));
    while (keys.back().starts_with('/')) keys.back().erase(0, 1);
    if (keys.back().empty()) keys.pop_back();
  }
  return keys;
}

struct Side {
  AcrossSide about;
  std::vector<Node> nodes;  // in order
};

bool is_time(const OpColumn& column) { return column.meaning.quantity == NumberQuantity::time; }

// What decides most where that is a time, else the first one.
const OpColumn* time_column(const OpTable& table) {
  if (table.ranked_by < table.columns.size() && is_time(table.columns[table.ranked_by])) {
    return &table.columns[table.ranked_by];
  }
  const auto found = std::ranges::find_if(table.columns, is_time);
  return found == table.columns.end() ? nullptr : &*found;
}

std::vector<std::int64_t> plain_extents(std::span<const std::int64_t> extents) {
  std::vector<std::int64_t> plain(extents.begin(), extents.end());
  std::erase(plain, 1);
  std::ranges::sort(plain);
  return plain;
}

// The model's operator, else the kernel with most of the row's time.
StringId kind_of(const Profile& profile, const OpRow& row) {
  const StringId node_kind = index_of(row.first_op) < profile.ops.size()
                                 ? profile.ops[index_of(row.first_op)].node_kind
                                 : StringId::empty;
  if (node_kind != StringId::empty) return node_kind;
  return row.main_kind != StringId::empty ? row.main_kind : row.kind;
}

// Nothing of rows that do no arithmetic and move no data of the model.
std::vector<std::string> sorts_of_rows(const Profile& profile, const std::vector<OpRow>& rows,
                                       const Rules& rules, const Rules& bookkeeping) {
  std::vector<RuledOp> ruled;
  for (const OpRow& row : rows) {
    const std::string_view kind = profile.text(kind_of(profile, row));
    const std::string_view name = kind.empty() ? std::string_view(row.name) : std::string_view();
    ruled.push_back({name, name, kind, kind});
  }
  const std::vector<std::uint32_t> none = bookkeeping.of(ruled);
  std::vector<std::string> sorts;
  for (const std::uint32_t rule : rules.of(ruled)) {
    const bool is_known = rule < rules.size() && none[sorts.size()] == bookkeeping.size();
    sorts.push_back(is_known ? rules.part(rule) : std::string());
  }
  return sorts;
}

// By node of the model; "" where nothing is known of its operator.
std::vector<std::string> sorts_of(const ExpectedGraph& model, const Rules& rules) {
  std::vector<RuledOp> operators;
  for (const ExpectedNode& node : model.nodes) {
    operators.push_back({.node = {}, .name = {}, .kind = node.op, .node_kind = node.op});
  }
  std::vector<std::string> sorts;
  for (const std::uint32_t rule : rules.of(operators)) {
    sorts.push_back(rule < rules.size() ? rules.part(rule) : std::string());
  }
  return sorts;
}

// The model's nodes of each op, those fused into others with these.
std::vector<std::vector<std::uint32_t>> model_nodes_of(const Analysis& analysis,
                                                       const ExpectedGraph& model) {
  const Profile& profile = analysis.profile();
  const GraphFacts facts = graph_facts(profile, analysis.graph(), analysis.op_times());
  const GraphMatch match = match_graph(profile, analysis.graph(), model,
                                       facts.ops > 0 ? std::span<const std::uint8_t>(facts.compiled)
                                                     : std::span<const std::uint8_t>());
  std::vector<std::vector<std::uint32_t>> held(model.nodes.size());
  for (std::uint32_t node = 0; node < match.nodes.size(); ++node) {
    std::uint32_t into = node;
    for (std::size_t steps = 0; steps < match.nodes.size();
         ++steps) {  // forged ones may form a ring
      if (match.nodes[into].fate != NodeFate::fused || match.nodes[into].into == no_node) break;
      into = match.nodes[into].into;
    }
    held[into].push_back(node);
  }
  std::vector<std::vector<std::uint32_t>> of_op(profile.ops.size());
  for (std::size_t op = 0; op < of_op.size() && op < match.node_of_op.size(); ++op) {
    const std::uint32_t node = match.node_of_op[op];
    const bool is_inserted = op < match.inserted.size() && match.inserted[op] != InsertedKind::none;
    if (node < held.size() && !is_inserted) of_op[op] = held[node];
  }
  return of_op;
}

Result<Side> side_of(const Analysis& analysis, const ExpectedGraph* model) {
  const Profile& profile = analysis.profile();
  OpOptions options = OpOptions::of_work(Grouping::node);
  options.owners_as_written = options.details = true;
  const OpTable table = analysis.ops(options);
  const OpColumn* column = time_column(table);
  const auto& files = profile.provenance.files;
  if (column == nullptr) {
    return usage_error("{}: has no time of any node, so nothing stands next to the other side",
                       files.empty() ? "the profile" : files.front());
  }
  const ClockId clock_id = column->of_base_clock ? profile.base_clock : column->clock;
  const Clock* clock =
      index_of(clock_id) < profile.clocks.size() ? &profile.clocks[index_of(clock_id)] : nullptr;
  const double rate = clock != nullptr ? clock->rate.value : 0;
  const bool counts_cycles = clock != nullptr && clock->kind == ClockKind::unit_cycles;
  Side side;
  side.about = {.column = column->name,
                .kind = column->kind,
                .origin = column->origin,
                .unit = rate > 0        ? MeasuredIn::seconds
                        : counts_cycles ? MeasuredIn::cycles
                                        : MeasuredIn::ticks,
                .inferences = table.inferences};
  if (!profile.provenance.ran()) side.about.origin = profile.provenance.times;
  TRY_AS(rules, Rules::builtin("operators"));
  TRY_AS(bookkeeping, Rules::builtin("bookkeeping"));
  const std::vector<std::string> sort_of = sorts_of_rows(profile, table.rows, *rules, *bookkeeping);
  const std::size_t place = std::size_t(column - table.columns.data());
  std::unordered_map<StringId, std::vector<std::uint32_t>> of_label;
  std::vector<std::string> sorts;
  if (model != nullptr) {
    sorts = sorts_of(*model, *rules);
    const auto of_op = model_nodes_of(analysis, *model);
    for (std::size_t op = 0; op < of_op.size(); ++op) {
      auto& nodes = of_label[profile.ops[op].label()];
      nodes.insert(nodes.end(), of_op[op].begin(), of_op[op].end());
    }
  }
  for (const OpRow& row : table.rows) {
    const std::size_t op = index_of(row.first_op);
    if (op >= profile.ops.size()) continue;
    const Op& first = profile.ops[op];
    const std::optional<double> value = row.values[place];
    if (!value && first.node_kind == StringId::empty) continue;  // frames, sessions
    Node node{.name = row.name,
              .kind = std::string(profile.text(kind_of(profile, row))),
              .sort = sort_of[std::size_t(&row - table.rows.data())],
              .extents = plain_extents(profile.shapes[first.extents]),
              .value = value && rate > 0 ? *value / rate : value,
              .place = row.details.start.value_or(std::int64_t(op)),
              .has_operator = first.node_kind != StringId::empty};
    if (const auto held = of_label.find(row.label); held != of_label.end()) {
      const auto is_like = [&](std::uint32_t each) { return sorts[each] == node.sort; };
      const bool fits = node.sort.empty() || std::ranges::any_of(held->second, is_like);
      if (fits) node.model_nodes = held->second;
    }
    side.about.total += node.value.value_or(0);
    side.nodes.push_back(std::move(node));
  }
  std::ranges::stable_sort(side.nodes, {}, &Node::place);
  side.about.nodes = side.nodes.size();
  return side;
}

class Joining {
 public:
  Joining(Side& a, Side& b, const ExpectedGraph* model) : sides_{&a, &b}, model_(model) {}

  void join() {
    if (model_ != nullptr) {
      join_keys(JoinedBy::model, [](const Node& node) {
        std::vector<std::string> keys;
        for (const std::uint32_t each : node.model_nodes) keys.push_back(std::to_string(each));
        return keys;
      });
    }
    join_keys(JoinedBy::name, [](const Node& node) { return keys_of(node.name); });
    for (const JoinedBy by : {JoinedBy::shape, JoinedBy::order}) {
      join_between(by, true);
      join_between(by, false);
    }
    for (int side = 0; side < 2; ++side) extend_runs(side);
  }

  std::vector<AcrossRow> rows() const {
    std::vector<AcrossRow> rows;
    std::vector<std::uint32_t> row_of_set(sets_, alone);
    for (int side = 0; side < 2; ++side) {
      for (const Node& node : sides_[side]->nodes) {
        std::uint32_t at = node.set == alone ? alone : row_of_set[node.set];
        const bool is_new = at == alone;
        if (is_new) {
          at = std::uint32_t(rows.size());
          rows.emplace_back();
          if (node.set != alone) row_of_set[node.set] = at;
        }
        AcrossRow& row = rows[at];
        row.by = is_new ? node.by : std::max(row.by, node.by);  // the least certain
        const bool is_first = row.names[side].empty();
        row.names[side].push_back(node.name);
        row.kinds[side] = is_first                       ? node.kind
                          : row.kinds[side] == node.kind ? node.kind
                                                         : "several";
        if (node.value) row.values[side] = row.values[side].value_or(0) + *node.value;
        for (const std::uint32_t each : node.model_nodes) {
          const std::string& name = model_->nodes[each].name;
          if (std::ranges::find(row.nodes, name) == row.nodes.end()) row.nodes.push_back(name);
        }
      }
    }
    return rows;
  }

 private:
  // Sets of free rows with keys in common, and what else has any of these keys.
  template <class KeysOf>
  void join_keys(JoinedBy by, const KeysOf& keys_of_node) {
    std::unordered_map<std::string, std::uint32_t> key_of;
    std::vector<std::uint32_t> parent;
    const auto root = [&](std::uint32_t at) {
      while (parent[at] != at) at = parent[at] = parent[parent[at]];
      return at;
    };
    std::vector<std::uint32_t> first_key[2];
    for (int side = 0; side < 2; ++side) {
      for (const Node& node : sides_[side]->nodes) {
        std::uint32_t of_node = alone;
        if (node.set != alone) {
          first_key[side].push_back(alone);
          continue;
        }
        for (const std::string& key : keys_of_node(node)) {
          const auto [found, is_new] = key_of.try_emplace(key, std::uint32_t(parent.size()));
          if (is_new) parent.push_back(found->second);
          if (of_node == alone) of_node = found->second;
          parent[root(found->second)] = root(of_node);
        }
        first_key[side].push_back(of_node);
      }
    }
    std::vector<std::uint8_t> seen(parent.size(), 0);
    for (int side = 0; side < 2; ++side) {
      for (const std::uint32_t key : first_key[side]) {
        if (key != alone) seen[root(key)] |= std::uint8_t(1 << side);
      }
    }
    std::vector<std::uint32_t> set_of(parent.size(), alone);
    for (int side = 0; side < 2; ++side) {
      for (std::size_t i = 0; i < first_key[side].size(); ++i) {
        if (first_key[side][i] == alone) continue;
        const std::uint32_t at = root(first_key[side][i]);
        if (seen[at] != 3) continue;
        if (set_of[at] == alone) set_of[at] = sets_++;
        Node& node = sides_[side]->nodes[i];
        node.set = set_of[at];
        node.by = by;
      }
    }
  }

  // Between which joined rows each free row of the side stands: how many sets, in the order of A,
  // have begun before it. Without `anchored` all stand in one place.
  std::vector<std::uint32_t> places(int side, bool anchored) const {
    std::vector<std::uint32_t> order(sets_, 0);
    std::uint32_t number = 0;
    for (const Node& node : sides_[0]->nodes) {
      if (node.set != alone && order[node.set] == 0) order[node.set] = ++number;
    }
    std::vector<std::uint32_t> found;
    std::uint32_t after = 0;
    for (const Node& node : sides_[side]->nodes) {
      if (node.set != alone) after = std::max(after, order[node.set]);
      found.push_back(anchored ? after : 0);
    }
    return found;
  }

  // Free rows alike, one with one in order, where both sides have as many of them.
  void join_between(JoinedBy by, bool anchored) {
    using Key = std::tuple<std::uint32_t, std::string, std::vector<std::int64_t>>;
    std::map<Key, Members> alike[2];
    for (int side = 0; side < 2; ++side) {
      const std::vector<std::uint32_t> at = places(side, anchored);
      for (std::uint32_t i = 0; i < at.size(); ++i) {
        const Node& node = sides_[side]->nodes[i];
        const bool has_shape = by != JoinedBy::shape || !node.extents.empty();
        if (node.set != alone || node.sort.empty() || !has_shape) continue;
        const auto& extents = by == JoinedBy::shape ? node.extents : std::vector<std::int64_t>();
        alike[side][{at[i], node.sort, extents}].push_back(i);
      }
    }
    for (const auto& [key, of_a] : alike[0]) {
      const auto of_b = alike[1].find(key);
      if (of_b == alike[1].end()) continue;
      const bool follows_joined = std::get<0>(key) > 0;
      if (follows_joined && by == JoinedBy::order && is_run(of_a) && is_run(of_b->second) &&
          (of_a.size() == 1 || of_b->second.size() == 1)) {
        for (const std::uint32_t i : of_a) put(sides_[0]->nodes[i], by);
        for (const std::uint32_t i : of_b->second) put(sides_[1]->nodes[i], by);
        ++sets_;
      }
      if (of_b->second.size() != of_a.size() || sides_[0]->nodes[of_a[0]].set != alone) continue;
      for (std::size_t i = 0; i < of_a.size(); ++i) {
        put(sides_[0]->nodes[of_a[i]], by);
        put(sides_[1]->nodes[of_b->second[i]], by);
        ++sets_;
      }
    }
  }

  // What a compiler made of one operator: free rows next to a joined one of the same operator,
  // where the other side has none of that sort to spare.
  void extend_runs(int side) {
    std::vector<Node>& nodes = sides_[side]->nodes;
    std::set<std::pair<std::uint32_t, std::string>> spare;
    const std::vector<std::uint32_t> places_there = places(1 - side, true);
    for (std::size_t i = 0; i < places_there.size(); ++i) {
      const Node& node = sides_[1 - side]->nodes[i];
      if (node.set == alone) spare.insert({places_there[i], node.sort});
    }
    const std::vector<std::uint32_t> at = places(side, true);
    const auto extend = [&](std::size_t to, std::size_t from) {
      Node& node = nodes[to];
      const Node& next = nodes[from];
      if (node.set != alone || next.set == alone || node.sort.empty()) return;
      if (!node.has_operator || node.sort != next.sort || node.kind != next.kind) return;
      if (spare.contains({at[to], node.sort})) return;
      node.set = next.set;
      node.by = JoinedBy::order;
    };
    for (std::size_t i = 1; i < nodes.size(); ++i) extend(i, i - 1);
    for (std::size_t i = nodes.size(); i > 1; --i) extend(i - 2, i - 1);
  }

  void put(Node& node, JoinedBy by) const {
    node.set = sets_;
    node.by = by;
  }

  static bool is_run(const Members& members) {
    return members.back() - members.front() + 1 == members.size();
  }

  Side* sides_[2];
  const ExpectedGraph* model_;
  std::uint32_t sets_ = 0;
};

}  // namespace

const char* name_of(JoinedBy by) {
  constexpr const char* names[] = {"model", "name", "operator and shape", "operator and order", ""};
  return names[std::size_t(by)];
}

Result<Across> compare_across(const Analysis& a, const Analysis& b, const ExpectedGraph* model) {
  TRY_AS(side_a, side_of(a, model));
  TRY_AS(side_b, side_of(b, model));
  Joining joining(*side_a, *side_b, model);
  joining.join();
  Across across{{side_a->about, side_b->about}, joining.rows()};
  for (int i = 0; i < 2; ++i) {
    for (const Node& node : (i == 0 ? *side_a : *side_b).nodes) {
      if (node.set == alone) continue;
      across.sides[i].joined += node.value.value_or(0);
      across.sides[i].joined_nodes += 1;
    }
  }
  return across;
}

}  // namespace npuscope::analysis
