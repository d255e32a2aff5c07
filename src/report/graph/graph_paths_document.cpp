// The documents of graph --path and graph --around.
#include "analysis/graph/graph_paths.hpp"
#include "npuscope/profile/intervals.hpp"
#include "report/document/document.hpp"
#include "report/graph/graph_tables.hpp"

namespace npuscope::report {
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
  const auto first = find_ops(view.profile, "--path", from);
  if (!first) return tl::unexpected(first.error());
  const auto last = find_ops(view.profile, "--path", to);
  if (!last) return tl::unexpected(last.error());
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
  const auto ops = find_ops(view.profile, "--around", centre);
  if (!ops) return tl::unexpected(ops.error());
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
