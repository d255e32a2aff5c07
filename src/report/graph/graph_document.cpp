#include "report/graph/graph_document.hpp"

#include <algorithm>

#include "analysis/graph/graph_paths.hpp"
#include "analysis/ops/op_times.hpp"
#include "base/try.hpp"
#include "npuscope/profile/intervals.hpp"
#include "report/document/document.hpp"
#include "report/document/provenance.hpp"
#include "report/graph/graph_tables.hpp"

namespace npuscope::report {

namespace {

using namespace analysis;

std::string tensor_name(const Profile& profile, std::uint32_t number) {
  const std::string_view name = profile.text(profile.tensors[number].name);
  return name.empty() ? fmt::format("tensor {}", number) : std::string(name);
}

std::vector<Field> tensor_fields() {
  return {{"tensor", "", Format::count},
          {"name", "tensor"},
          {"type", "type"},
          {"shape", "shape"},
          {"memory", "memory", Format::name, false, true},
          {"bytes", "size", Format::bytes},
          {"is_constant", "constant", Format::truth, false},
          {"producer", "made by", Format::name, false, true},
          {"producer_op", "", Format::count},
          {"uses", "uses", Format::count},
          {"vendor_id", "", Format::count}};
}

std::vector<Value> tensor_row(const GraphView& view, std::uint32_t number) {
  const Profile& profile = view.profile;
  const Tensor& tensor = profile.tensors[number];
  const bool made = index_of(tensor.producer) < profile.ops.size();
  return {number,
          tensor_name(profile, number),
          if_any(profile, tensor.type),
          if_any(profile, tensor.shape),
          if_any(profile, tensor.memory),
          if_positive(tensor.size.value),
          tensor.is_constant,
          made ? Value(op_label(profile, tensor.producer)) : Value(),
          made ? op_number(tensor.producer) : Value(),
          view.facts.uses[number],
          tensor.id};
}

class GraphDocument {
 public:
  GraphDocument(const GraphView& view, const GraphDocumentOptions& options)
      : view_(view), profile_(view.profile), facts_(view.facts), options_(options) {}

  Document make() {
    Document document{.profile = &profile_, .scope = scope_of(view_)};
    auto& sections = document.sections;
    sections = {head(), kinds()};
    if (!profile_.tensors.empty()) {
      sections.push_back(memories());
      sections.push_back(largest());
    } else {
      sections.push_back(largest_outputs());
    }
    if (facts_.ran > 0 && facts_.ran < facts_.ops) sections.push_back(not_run());
    if (facts_.cycle_count > 0) sections.push_back(cycles());
    sections.push_back(false_dependencies_section(view_, rows()));
    if (options_.expected) {
      sections.push_back(expected_section(view_, *options_.expected, rows()));
    }
    if (options_.whole) {
      sections.push_back(nodes());
      sections.push_back(edges());
      sections.push_back(tensors());
      sections.push_back(tensor_uses());
    }
    return document;
  }

 private:
  std::size_t rows() const { return options_.rows; }

  Section head() const {
    Section section{.key = "graph", .title = "COMPILED GRAPH"};
    const auto add = [&](const char* key, const char* label, Value value,
                         Format format = Format::count) {
      section.facts.push_back({{key, label, format}, std::move(value)});
    };
    add("ops", "ops", facts_.ops);
    add("ops_run", "of which run", view_.times.known ? Value(facts_.ran) : Value());
    for (std::size_t kind = 0; kind < facts_.edges.size(); ++kind) {
      const std::string name = stable_name(EdgeKind(kind));
      section.facts.push_back(
          {{"edges_" + name, facts_.edges[kind] > 0 ? "edges: " + name : "", Format::count},
           facts_.edges[kind]});
    }
    const auto add_sum = [&](const char* key, const char* label, const TensorSum& sum) {
      add((std::string(key) + "s").c_str(), label, sum.count);
      add((std::string(key) + "_bytes").c_str(), "  their size",
          sum.without_size == sum.count ? Value() : Value(sum.bytes), Format::bytes);
    };
    if (!profile_.tensors.empty()) {
      add_sum("tensor", "tensors", facts_.tensors);
      add_sum("input", "inputs", facts_.inputs);
      add_sum("output", "outputs", facts_.outputs);
      add_sum("constant", "constants", facts_.constants);
    }
    const bool has_edges = !view_.graph.edges().empty();
    const auto add_shape = [&](const char* key, const char* label, std::uint64_t count) {
      add(key, label, has_edges ? Value(count) : Value());
    };
    add_shape("longest_chain", "longest chain of ops", facts_.levels);
    add_shape("width", "most ops at one depth", facts_.width);
    add_shape("sources", "ops nothing leads to", facts_.sources);
    add_shape("sinks", "ops that lead to nothing", facts_.sinks);
    add_shape("alone", "ops without any edge", facts_.alone);
    add_shape("components", "parts not connected", facts_.components);
    add_shape("largest_component", "  ops of the largest", facts_.largest_component);
    add_shape("cycles", "dependency cycles", facts_.cycle_count);
    const auto remark = [&](std::uint64_t count, const char* what) {
      if (count > 0) section.remarks.push_back(fmt::format("{}: {}.", what, count));
    };
    remark(facts_.only_named, "Ops that are names only (of the model's operators), not counted");
    remark(view_.graph.dangling(), "Edges from or to an op that does not exist, left out");
    remark(view_.graph.loops(), "Edges of an op to itself, left out");
    remark(facts_.shapes, "Records of shapes, which hold no data, not counted as tensors");
    remark(facts_.tensors.without_size, "Tensors without a known size, not in the sums");
    if (!has_edges) {
      section.remarks.push_back(
          "The files hold no edges between ops: open the compiled graph with them (the program "
          "beside raw buffers, the _htp.json beside an optrace).");
    }
    if (view_.times.inferences > 1) {
      section.remarks.push_back(
          fmt::format("Times are of inference {}, whose length is the median of the {} after the "
                      "first.",
                      view_.times.inference, view_.times.inferences - 1));
    }
    return section;
  }

  Section kinds() const {
    Section section{.key = "kinds", .title = "KINDS OF OPS"};
    section.table.fields = {
        {"kind", "kind"},
        {"ops", "ops", Format::count},
        {"ops_run", "run", Format::count, false},
        {"work", "work", Format::ticks, true, true},
        {"work_share_of_all_work", "of all work", Format::share, true, true},
        {"output_bytes", "output", Format::bytes, false, true},
    };
    section.table.row_count = facts_.kinds.size();
    const auto total = double(view_.times.total_work);
    for (const KindCount& kind : facts_.kinds) {
      if (section.table.rows.size() == rows()) break;
      section.table.rows.push_back(
          {kind.kind == StringId::empty ? "(no kind)" : profile_.text(kind.kind), kind.ops,
           view_.times.known ? Value(kind.ran) : Value(), kind.ran > 0 ? Value(kind.work) : Value(),
           kind.ran > 0 ? ratio(double(kind.work), total) : Value(),
           if_positive(kind.output_bytes)});
    }
    return section;
  }

  Section memories() const {
    Section section{.key = "memories", .title = "TENSORS BY MEMORY"};
    section.table.fields = {{"memory", "memory"},
                            {"tensors", "tensors", Format::count},
                            {"bytes", "size", Format::bytes}};
    for (const MemorySum& memory : facts_.memories) {
      section.table.rows.push_back(
          {memory.memory == StringId::empty ? "(not said)" : profile_.text(memory.memory),
           memory.sum.count, memory.sum.bytes});
    }
    return section;
  }

  Section largest() const {
    Section section{.key = "largest_tensors", .title = "LARGEST TENSORS"};
    section.table.fields = tensor_fields();
    section.table.row_count = facts_.largest.size();
    for (const std::uint32_t number : facts_.largest) {
      if (section.table.rows.size() == std::min(rows(), options_.top)) break;
      section.table.rows.push_back(tensor_row(view_, number));
    }
    return section;
  }

  Section largest_outputs() const {
    Section section{.key = "largest_outputs", .title = "LARGEST OUTPUTS OF OPS"};
    section.table.fields = {{"op", "", Format::count},
                            {"name", "op"},
                            {"kind", "kind"},
                            {"memory", "memory", Format::name, false},
                            {"bytes", "output", Format::bytes}};
    std::vector<std::uint32_t> ops;
    for (std::uint32_t i = 0; i < profile_.ops.size(); ++i) {
      if (profile_.ops[i].output.value > 0) ops.push_back(i);
    }
    section.table.row_count = ops.size();
    const auto last = ops.begin() + std::ptrdiff_t(std::min(options_.top, ops.size()));
    std::partial_sort(ops.begin(), last, ops.end(), [&](auto a, auto b) {
      const auto size = [&](auto op) { return profile_.ops[op].output.value; };
      return size(a) != size(b) ? size(a) > size(b) : a < b;
    });
    for (auto op = ops.begin(); op != last; ++op) {
      section.table.rows.push_back(
          {*op, op_label(profile_, OpId(*op)), op_kind(profile_, OpId(*op)),
           if_any(profile_, profile_.ops[*op].memory), profile_.ops[*op].output.value});
    }
    section.remarks = {"The files hold no tensors, only the size of what each op writes."};
    return section;
  }

  Section not_run() const {
    Section section{.key = "not_run", .title = "OPS THAT DID NOT RUN"};
    section.table.fields = {{"op", "", Format::count},
                            {"name", "op"},
                            {"kind", "kind"},
                            {"node", "node", Format::name, false},
                            {"attributes", "says", Format::name, false, true}};
    section.table.row_count = facts_.ops - facts_.ran;
    for (std::uint32_t i = 0; i < profile_.ops.size(); ++i) {
      if (section.table.rows.size() == rows()) break;
      if (!facts_.compiled[i] || view_.times.seen[i]) continue;
      const Op& op = profile_.ops[i];
      section.table.rows.push_back({i, op_label(profile_, OpId(i)), op_kind(profile_, OpId(i)),
                                    if_any(profile_, op.node), if_any(profile_, op.attributes)});
    }
    return section;
  }

  Section cycles() const {
    constexpr std::size_t max_named = 8;
    Section section{.key = "cycles", .title = "DEPENDENCY CYCLES"};
    section.table.fields = {{"ops", "ops", Format::count},
                            {"names", "some of them", Format::names}};
    section.table.row_count = facts_.cycle_count;
    for (const auto& cycle : facts_.cycles) {
      if (section.table.rows.size() == rows()) break;
      std::vector<std::string> names;
      for (std::size_t i = 0; i < std::min(max_named, cycle.size()); ++i) {
        names.push_back(op_label(profile_, cycle[i]));
      }
      section.table.rows.push_back({cycle.size(), std::move(names)});
    }
    section.remarks = {
        "Each of these ops waits, by the edges, for itself: the edges are wrong or of several "
        "inferences. A cycle counts as one step of a chain."};
    return section;
  }

  Section nodes() const {
    Section section{.key = "nodes"};
    section.table.fields = {{"op", "", Format::count},
                            {"name"},
                            {"kind"},
                            {"node"},
                            {"node_kind"},
                            {"engine"},
                            {"memory"},
                            {"shape"},
                            {"core", "", Format::count},
                            {"output_bytes", "", Format::bytes},
                            {"level", "", Format::count},
                            {"start", "", Format::ticks},
                            {"end", "", Format::ticks},
                            {"work", "", Format::ticks},
                            {"vendor_id", "", Format::count}};
    for (std::uint32_t i = 0; i < profile_.ops.size(); ++i) {
      if (!facts_.compiled[i]) continue;
      const Op& op = profile_.ops[i];
      const bool ran = view_.times.ran(OpId(i));
      section.table.rows.push_back(
          {i, if_any(profile_, op.name), if_any(profile_, op.kind), if_any(profile_, op.node),
           if_any(profile_, op.node_kind), stable_name(op.engine), if_any(profile_, op.memory),
           if_any(profile_, op.shape), op.core, op.output.value, facts_.level[i],
           ran ? Value(view_.times.begin[i]) : Value(), ran ? Value(view_.times.end[i]) : Value(),
           work_of(view_, OpId(i)), op.id});
    }
    return section;
  }

  Section edges() const {
    Section section{.key = "edges"};
    section.table.fields = {{"from_op", "", Format::count}, {"to_op", "", Format::count}, {"kind"}};
    for (const Edge& edge : view_.graph.edges()) {
      section.table.rows.push_back(
          {op_number(edge.from), op_number(edge.to), stable_name(edge.kind)});
    }
    return section;
  }

  Section tensors() const {
    Section section{.key = "tensors"};
    section.table.fields = tensor_fields();
    for (std::uint32_t i = 0; i < profile_.tensors.size(); ++i) {
      section.table.rows.push_back(tensor_row(view_, i));
    }
    return section;
  }

  Section tensor_uses() const {
    Section section{.key = "tensor_uses"};
    section.table.fields = {{"tensor", "", Format::count}, {"op", "", Format::count}};
    for (const TensorUse& use : profile_.tensor_uses) {
      section.table.rows.push_back({use.tensor, op_number(use.consumer)});
    }
    return section;
  }

  const GraphView& view_;
  const Profile& profile_;
  const GraphFacts& facts_;
  const GraphDocumentOptions& options_;
};

}  // namespace

GraphView::GraphView(const analysis::Analysis& of)
    : profile(of.profile()),
      graph(of.graph()),
      times(of.op_times()),
      facts(graph_facts(profile, graph, times)) {}

std::string scope_of(const GraphView& view) {
  return view.times.inferences > 1 ? scope_of_one(view.profile, view.times.inference) : "";
}

Result<Document> graph_document(const GraphView& view, const GraphDocumentOptions& options) {
  if (view.facts.ops == 0) {
    return input_error("{}: holds no compiled ops, so no graph; npuscope show lists what it holds",
                       files_text(view.profile));
  }
  return GraphDocument(view, options).make();
}

// The documents of graph --path and graph --around.

namespace {

using namespace analysis;

Section path_section(const GraphView& view, const OpPath& path, const char* key,
                     const char* title) {
  const Profile& profile = view.profile;
  Section section{.key = key, .title = title};
  section.facts = {{{"exists", "path exists", Format::truth}, path.exists()}};
  if (!path.exists()) return section;
  std::int64_t work = 0;
  for (const OpId op : path.ops) {
    work = saturating_add(work, std::max<std::int64_t>(view.times.work[index_of(op)], 0));
  }
  section.facts.push_back({{"ops", "ops", Format::count}, path.ops.size()});
  section.facts.push_back(
      {{"work", "work of its ops", Format::ticks}, view.times.known ? Value(work) : Value()});
  section.table.fields = {{"op", "", Format::count},
                          {"by", "by", Format::name, true, true},
                          {"name", "op"},
                          {"kind", "kind"},
                          {"work", "work", Format::ticks, true, true},
                          {"output_bytes", "output", Format::bytes, false, true}};
  for (std::size_t i = 0; i < path.ops.size(); ++i) {
    const Op& op = profile.ops[index_of(path.ops[i])];
    section.table.rows.push_back({op_number(path.ops[i]),
                                  i > 0 ? Value(stable_name(path.edges[i - 1])) : Value(),
                                  op_label(profile, path.ops[i]), op_kind(profile, path.ops[i]),
                                  work_of(view, path.ops[i]), if_positive(op.output.value)});
  }
  return section;
}

}  // namespace

Result<Document> graph_path_document(const GraphView& view, const std::string& from,
                                     const std::string& to, EdgeKinds kinds) {
  TRY_AS(first, find_ops(view.profile, "--path", from));
  TRY_AS(last, find_ops(view.profile, "--path", to));
  Document document{.profile = &view.profile};
  Section head{.key = "between", .title = "BETWEEN"};
  head.facts = {{{"from", "from"}, from},
                {{"from_ops", "  ops", Format::count}, first->size()},
                {{"to", "to"}, to},
                {{"to_ops", "  ops", Format::count}, last->size()}};
  const OpPath shortest = shortest_path(view.graph, *first, *last, kinds);
  if (!shortest.exists()) {
    const OpPath back = shortest_path(view.graph, *last, *first, kinds);
    head.remarks = {back.exists() ? "No path this way; one leads the other way round."
                                  : "No path, in either direction."};
  }
  document.sections = {head, path_section(view, shortest, "shortest_path", "PATH OF FEWEST EDGES")};
  if (view.times.known && shortest.exists()) {
    const OpPath heaviest =
        heaviest_path(view.graph, order_of(view.graph, kinds), view.times, *first, *last, kinds);
    Section section = path_section(view, heaviest, "heaviest_path", "PATH OF MOST WORK");
    if (!heaviest.exists()) {
      section.remarks = {"The ops lie on a cycle, so no path is the heaviest."};
    }
    document.sections.push_back(std::move(section));
  }
  return document;
}

Result<Document> graph_around_document(const GraphView& view, const std::string& centre,
                                       std::uint32_t hops, EdgeKinds kinds) {
  TRY_AS(ops, find_ops(view.profile, "--around", centre));
  const std::vector<NearOp> near = ops_around(view.graph, *ops, hops, kinds);
  Document document{.profile = &view.profile};
  Section nodes{.key = "around", .title = "AROUND"};
  nodes.facts = {{{"centre", "ops like"}, centre},
                 {{"centre_ops", "  ops", Format::count}, ops->size()},
                 {{"hops", "edges away, at most", Format::count}, hops}};
  nodes.table.fields = {{"hops", "edges away", Format::count},
                        {"op", "number", Format::count, false},
                        {"name", "op"},
                        {"kind", "kind"},
                        {"work", "work", Format::ticks, false, true},
                        {"output_bytes", "output", Format::bytes, false, true}};
  std::vector<std::uint8_t> inside(view.graph.size(), 0);
  for (const NearOp& op : near) {
    inside[index_of(op.op)] = 1;
    const std::int64_t bytes = view.profile.ops[index_of(op.op)].output.value;
    nodes.table.rows.push_back({op.hops, op_number(op.op), op_label(view.profile, op.op),
                                op_kind(view.profile, op.op), work_of(view, op.op),
                                if_positive(bytes)});
  }
  Section edges{.key = "edges", .title = "EDGES BETWEEN THEM"};
  edges.table.fields = {{"from_op", "number", Format::count, false},
                        {"from", "from"},
                        {"to_op", "number", Format::count, false},
                        {"to", "to"},
                        {"kind", "kind"}};
  for (const Edge& edge : view.graph.edges()) {
    if (!inside[index_of(edge.from)] || !inside[index_of(edge.to)] || !kinds.has(edge.kind)) {
      continue;
    }
    edges.table.rows.push_back({op_number(edge.from), op_label(view.profile, edge.from),
                                op_number(edge.to), op_label(view.profile, edge.to),
                                stable_name(edge.kind)});
  }
  document.sections = {std::move(nodes), std::move(edges)};
  return document;
}

}  // namespace npuscope::report
