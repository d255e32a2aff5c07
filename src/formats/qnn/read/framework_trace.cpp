#include "formats/qnn/read/framework_trace.hpp"

#include <algorithm>

#include "base/has_text.hpp"
#include "base/try.hpp"
#include "formats/qnn/read/json_text.hpp"

namespace npuscope::qnn {
namespace {

using Value = ondemand::value;

class MappingReader {
 public:
  MappingReader(JsonText& json, FrameworkTrace& trace) : json_(json), trace_(trace) {}

  void read() {
    json_.each_member([&](std::string_view key, Value value) {
      if (key == "model_name") trace_.model = text(value, key);
      if (key == "subgraph_traces") {
        json_.each_element(value, key, [&](Value& graph) { read_graph(graph); });
      }
      if (key == "unsupported_nodes") {
        json_.each_element(value, key, [&](Value& node) { read_left_out(node); });
      }
      if (key == "summary") read_summary(value);
    });
  }

 private:
  std::string text(Value& value, std::string_view key) {
    return std::string(json_.text(value, key).value_or(""));
  }

  void read_graph(Value& value) {
    FrameworkTrace::Graph graph;
    json_.each_member(value, "subgraph_traces", [&](std::string_view key, Value field) {
      if (key == "graph_name") graph.name = text(field, key);
      if (key == "op_mappings") {
        json_.each_element(field, key, [&](Value& op) {
          if (json_.has_room(key)) graph.ops.push_back(read_op(op));
        });
      }
    });
    trace_.graphs.push_back(std::move(graph));
  }

  FrameworkTrace::MappedOp read_op(Value& value) {
    FrameworkTrace::MappedOp op;
    json_.each_member(value, "op_mappings", [&](std::string_view key, Value field) {
      if (key == "dst_name") op.name = text(field, key);
      if (key == "dst_qnn_op_type") op.type = text(field, key);
      if (key == "sources") {
        json_.each_element(field, key, [&](Value& source) { read_source(source, op); });
      }
    });
    return op;
  }

  // A tensor is there apart from the node that makes it.
  void read_source(Value& value, FrameworkTrace::MappedOp& op) {
    std::string name, type;
    json_.each_member(value, "sources", [&](std::string_view key, Value field) {
      if (key == "name") name = text(field, key);
      if (key == "type") type = text(field, key);
    });
    if (type == "OP" && json_.has_room("sources")) op.sources.push_back(std::move(name));
  }

  void read_left_out(Value& value) {
    if (!json_.has_room("unsupported_nodes")) return;
    FrameworkTrace::LeftOut& node = trace_.left_out.emplace_back();
    json_.each_member(value, "unsupported_nodes", [&](std::string_view key, Value field) {
      if (key == "node_name") node.name = text(field, key);
      if (key == "op_type") node.type = text(field, key);
      if (key == "reason") node.reason = text(field, key);
    });
  }

  void read_summary(Value& value) {
    json_.each_member(value, "summary", [&](std::string_view key, Value field) {
      if (key == "total_onnx_nodes") trace_.nodes = json_.integer(field, key).value_or(-1);
      if (key == "supported_nodes") trace_.supported_nodes = json_.integer(field, key).value_or(-1);
    });
  }

  JsonText& json_;
  FrameworkTrace& trace_;
};

}  // namespace

const FrameworkTrace::Graph* FrameworkTrace::find(std::string_view graph) const {
  const auto found =
      std::ranges::find_if(graphs, [&](const Graph& each) { return each.name == graph; });
  return found == graphs.end() ? nullptr : &*found;
}

bool is_framework_trace(std::string_view head) {
  return has_text(head, "\"subgraph_traces\"") && has_text(head, "\"schema_version\"");
}

Result<FrameworkTrace> read_framework_trace(ByteSource& source, CountedNotes& losses) {
  TRY_AS(json, JsonText::load(source, losses));
  FrameworkTrace trace;
  MappingReader(*json, trace).read();
  if (trace.graphs.empty() && trace.left_out.empty()) {
    return input_error(
        "{}: says of no node of the model what became of it; prepare the model "
        "again with enable_framework_op_trace=1",
        source.name());
  }
  return trace;
}

}  // namespace npuscope::qnn
