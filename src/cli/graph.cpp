// npuscope graph: the compiled graph, paths through it, and its drawing.
#include <memory>

#include "analysis/graph/graph_paths.hpp"
#include "base/try.hpp"
#include "cli/choices.hpp"
#include "cli/documents.hpp"
#include "cli/expected_model.hpp"
#include "npuscope/base/files.hpp"
#include "report/graph/graph_document.hpp"
#include "report/graph/graph_drawing.hpp"

namespace npuscope::cli {
namespace {

struct GraphOptions : DocumentOptions {
  report::GraphDocumentOptions graph;
  std::vector<std::string> path;  // from, to
  std::string around;
  std::uint32_t hops = 1;
  std::vector<std::string> edges;
  ExpectedModel model;
  std::string dot, svg;
  report::DrawBy by = report::DrawBy::op;
  bool loads = false;

  analysis::EdgeKinds edge_kinds() const;
};

const std::map<std::string, EdgeKind> edge_names{{"data", EdgeKind::data},
                                                 {"reuse", EdgeKind::reuse},
                                                 {"flow", EdgeKind::flow},
                                                 {"transfer", EdgeKind::transfer},
                                                 {"order", EdgeKind::order}};

std::vector<std::string> edge_words() {
  std::vector<std::string> words;
  for (const auto& [word, kind] : edge_names) words.push_back(word);
  return words;
}

const std::vector<Choice<report::DrawBy>> draw_names{{"part", report::DrawBy::op},
                                                     {"name", report::DrawBy::name},
                                                     {"kind", report::DrawBy::kind},
                                                     {"node", report::DrawBy::node},
                                                     {"op", report::DrawBy::op, WordAge::old}};

analysis::EdgeKinds GraphOptions::edge_kinds() const {
  if (edges.empty()) return analysis::EdgeKinds::all();
  analysis::EdgeKinds kinds;
  for (const std::string& name : edges) kinds.add(edge_names.at(name));
  return kinds;
}

Error several_profiles() {
  return {ErrorKind::usage, "--dot and --svg draw one profile, and the files hold several"};
}

Status check_outputs(const GraphOptions& options) {
  std::vector<std::string> inputs = options.files;
  if (!options.model.file.empty()) inputs.push_back(options.model.file);
  for (const std::string& output : {options.dot, options.svg}) {
    if (output.empty()) continue;
    if (auto ok = check_output_is_no_input(inputs, output); !ok) return ok;
  }
  if (!options.dot.empty() && options.dot == options.svg) {
    return usage_error("--dot and --svg name the same file {}", options.dot);
  }
  return {};
}

std::string file_of(const std::string& output) { return output == "-" ? "/dev/stdout" : output; }

Status draw(const GraphOptions& options, const report::GraphView& view,
            const std::string& selection) {
  report::DrawOptions drawn{
      .by = options.by, .edges = options.edge_kinds(), .loads = options.loads};
  if (!options.around.empty()) {
    TRY_AS(centre, analysis::find_ops(view.profile, "--around", options.around));
    for (const auto& near : analysis::ops_around(view.graph, *centre, options.hops, drawn.edges)) {
      drawn.only.push_back(near.op);
    }
  }
  TRY_AS(drawing, report::draw_graph(view, drawn));
  if (!options.dot.empty()) {
    const std::string text = report::dot_text(*drawing);
    if (auto ok = write_file_atomically(file_of(options.dot), as_byte_span(text)); !ok) return ok;
  }
  if (options.svg.empty()) return {};
  const std::string text = report::svg_text(*drawing, selection);
  return write_file_atomically(file_of(options.svg), as_byte_span(text));
}

// The drawing alone, on standard output.
ExitStatus print_drawing(const GraphOptions& options) {
  const auto selected = open_selected(options);
  if (!selected) return report(selected.error());
  if (selected->parts.size() > 1) return report(several_profiles());
  const report::ProfilePart& part = selected->parts.front();
  const analysis::Analysis analysis(part.profile);
  const Status drawn = draw(options, report::GraphView(analysis), part.text);
  if (!drawn) return report(drawn.error());
  print_notes(selected->notes);
  return status_of(options, selected->notes);
}

ExitStatus graph(GraphOptions options) {
  options.graph.whole = options.json || options.csv;
  options.graph.top = options.top.of(false);  // of the largest, which JSON has among all
  options.graph.rows = options.rows();
  const bool draws = !options.dot.empty() || !options.svg.empty();
  if (auto ok = check_outputs(options); !ok) return report(ok.error());
  if (options.dot == "-" || options.svg == "-") return print_drawing(options);
  analysis::ExpectedGraph expected;
  if (!options.model.file.empty()) {
    auto loaded = load_expected(options.model);
    if (!loaded) return report(loaded.error());
    expected = std::move(*loaded);
    options.graph.expected = &expected;
  }
  bool drawn = false;
  return print_documents(options,
                         [&](const analysis::Analysis& analysis,
                             const report::ProfilePart& part) -> Result<report::Document> {
                           const report::GraphView view(analysis);
                           if (draws && drawn) return tl::unexpected(several_profiles());
                           if (draws) {
                             if (auto ok = draw(options, view, part.text); !ok)
                               return tl::unexpected(ok.error());
                             drawn = true;
                           }
                           if (!options.path.empty()) {
                             return report::graph_path_document(
                                 view, options.path[0], options.path[1], options.edge_kinds());
                           }
                           if (!options.around.empty()) {
                             return report::graph_around_document(
                                 view, options.around, options.hops, options.edge_kinds());
                           }
                           return report::graph_document(view, options.graph);
                         });
}

}  // namespace

void add_graph_command(Command& program) {
  Command& command = program.command(
      "graph", "The compiled graph: ops, tensors, edges, false dependencies, paths");
  const auto options = std::make_shared<GraphOptions>();
  options->top.set(options->graph.top);
  add_document_options(command, *options);
  options->joins_runs = true;
  command
      .flag("--path", options->path,
            "FROM TO: a path between ops of these names, or that match these regular "
            "expressions")
      .values(2, 2);
  command.flag("--around", options->around, "only what is near the ops like this one")
      .excludes("--path");
  command.flag("--hops", options->hops, "edges away from it, at most")
      .check(whole_number(0, 1'000'000))
      .needs("--around")
      .shows_usual();
  command
      .flag("--edges", options->edges,
            "kinds of edges that --path and --around follow; default: all")
      .separated_by(',')
      .check(one_of(edge_words()))
      .called(words_text(edge_words()));
  add_expected_model(command, options->model,
                     "compare with the ONNX model that the graph was compiled from")
      .excludes("--path")
      .excludes("--around");
  command.flag("--dot", options->dot,
               "draw the graph into this file, for Graphviz; - prints it instead of the page");
  command.flag("--svg", options->svg,
               "draw the graph into this file, as SVG; - prints it instead of the page");
  add_choice(command, "--by", options->by, draw_names, "what a box of the drawing is of");
  command.flag("--loads", options->loads,
               "draw what only brings constants to an op as boxes of their own");
  for (const char* flag : {"--by", "--loads"}) command.matters_with(flag, {"--dot", "--svg"});
  command.matters_with("--edges", {"--path", "--around", "--dot", "--svg"});
  command.action = [options] { return graph(*options); };
}

}  // namespace npuscope::cli
