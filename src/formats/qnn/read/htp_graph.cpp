#include "formats/qnn/read/htp_graph.hpp"

#include <fmt/format.h>

#include <array>

#include "base/numbers.hpp"
#include "base/try.hpp"
#include "formats/qnn/read/artifact_parts.hpp"
#include "formats/qnn/read/json_text.hpp"

namespace npuscope::qnn {
namespace {

using Value = ondemand::value;

constexpr std::uint64_t named = std::uint64_t{1} << 63;  // an id that stands for a name

class GraphReader {
 public:
  GraphReader(JsonText& json, HtpGraph& graph) : json_(json), graph_(graph) {}

  void read() {
    json_.each_member([&](std::string_view key, Value value) {
      if (key == "header") graph_.version = read_header_version(json_, value);
      if (key == "graph") read_graph(value);
    });
  }

 private:
  void read_graph(Value& graph) {
    json_.each_member(graph, "graph", [&](std::string_view key, Value table) {
      if (key == "tensors") {
        json_.each_member(
            table, key, [&](std::string_view id, Value tensor) { read_tensor(id_of(id), tensor); });
      } else if (key == "nodes") {
        json_.each_member(table, key,
                          [&](std::string_view id, Value node) { read_node(id_of(id), node); });
      }
    });
  }

  // A graph from before the optimisations may have names where others have ids: those get numbers
  // of their own, beyond the ids that are met.
  std::uint64_t id_of(std::string_view text) {
    if (const auto id = parse_id(text)) return *id;
    return named | std::uint64_t(graph_.strings.intern(text));
  }

  void read_tensor(std::uint64_t id, Value& value) {
    if (!json_.has_room("tensors")) return;
    GraphTensor tensor;
    tensor.id = id;
    json_.each_member(value, "tensors", [&](std::string_view key, Value field) {
      if (key == "type") {
        constexpr std::int64_t static_tensor = 4;
        tensor.is_constant = json_.integer(field, key) == static_tensor;
      }
      if (key == "data_type") tensor.data_type = json_.integer(field, key).value_or(-1);
      if (key == "dims") tensor.dims = read_dims(field);
    });
    graph_.tensors.push_back(tensor);
  }

  ShapeId read_dims(Value& value) {
    std::vector<std::int64_t> dims;
    json_.each_element(value, "dims", [&](Value& element) {
      if (const auto extent = json_.integer(element, "dims")) dims.push_back(*extent);
    });
    return dims.empty() ? ShapeId::none : graph_.shapes.intern(dims);
  }

  void read_node(std::uint64_t id, Value& value) {
    if (!json_.has_room("nodes")) return;
    GraphNode node;
    node.id = id;
    json_.each_member(value, "nodes", [&](std::string_view key, Value field) {
      if (key == "type") take(key, field, node.htp_op);
      if (key == "grouping") take(key, field, node.qnn_op);
      if (key == "scalar_params") read_parameters(field, node);
      if (key == "input_names") read_uses(key, field, node.first_input, node.inputs);
      if (key == "output_names") read_uses(key, field, node.first_output, node.outputs);
    });
    graph_.nodes.push_back(node);
  }

  void read_uses(std::string_view key, Value& value, std::uint32_t& first, std::uint32_t& count) {
    first = std::uint32_t(graph_.uses.size());
    json_.each_element(value, key, [&](Value& element) {
      if (const auto id = json_.text(element, key)) graph_.uses.push_back(id_of(*id));
    });
    count = std::uint32_t(graph_.uses.size()) - first;
  }

  // {"cycles_start": {"100": 7997466066676}}: the inner key is the value's type, which does not
  // always tell the truth (cycles_per_packet is a fraction under the code of a whole number).
  void read_parameters(Value& parameters, GraphNode& node) {
    json_.each_member(parameters, "scalar_params", [&](std::string_view name, Value typed) {
      json_.each_member(typed, name,
                        [&](std::string_view, Value value) { take(name, value, node); });
    });
  }

  void take(std::string_view name, Value& value, GraphNode& node) {
    if (name == "qnn_op_name") return take(name, value, node.qnn_op);
    if (name == "qnn_op_type") return take(name, value, node.qnn_op_type);
    if (name == "op_flags") return take(name, value, node.flags);
    if (name == "output_step_size") return take(name, value, node.step_size);
    if (name == "output_zero_offset") return take(name, value, node.zero_offset);
    if (name == "output_rank") return take(name, value, node.rank);
    if (name == "cycles_start") return take(name, value, node.start_cycle);
    if (name == "cycles_duration") return take(name, value, node.cycles);
    if (name == "cycles_dominant") return take(name, value, node.dominant_path);
    if (name == "cycles_per_packet") return take(name, value, node.cycles_per_packet);
    for (std::size_t i = 0; i < Traffic::kinds; ++i) {
      if (name == Traffic::graph_keys[i]) take(name, value, node.traffic.bytes[i]);
    }
  }
  void take(std::string_view key, Value& value, std::int64_t& into) {
    if (const auto whole = json_.integer(value, key)) into = *whole;
  }
  void take(std::string_view key, Value& value, double& into) {
    if (const auto real = json_.number(value, key)) into = *real;
  }
  void take(std::string_view key, Value& value, StringId& into) {
    if (const auto text = json_.text(value, key)) into = graph_.strings.intern(*text);
  }

  JsonText& json_;
  HtpGraph& graph_;
};

struct DataType {
  std::int64_t code;
  std::string_view name;
};

// Qnn_DataType_t of QnnTypes.h.
constexpr std::array<DataType, 21> data_types{{
    {0x0008, "INT_8"},           {0x0016, "INT_16"},          {0x0032, "INT_32"},
    {0x0064, "INT_64"},          {0x0108, "UINT_8"},          {0x0116, "UINT_16"},
    {0x0132, "UINT_32"},         {0x0164, "UINT_64"},         {0x0216, "FLOAT_16"},
    {0x0232, "FLOAT_32"},        {0x0264, "FLOAT_64"},        {0x0304, "SFIXED_POINT_4"},
    {0x0308, "SFIXED_POINT_8"},  {0x0316, "SFIXED_POINT_16"}, {0x0332, "SFIXED_POINT_32"},
    {0x0404, "UFIXED_POINT_4"},  {0x0408, "UFIXED_POINT_8"},  {0x0416, "UFIXED_POINT_16"},
    {0x0432, "UFIXED_POINT_32"}, {0x0508, "BOOL_8"},          {0x0608, "STRING"},
}};

}  // namespace

std::string name_of_data_type(std::int64_t data_type) {
  for (const DataType& known : data_types) {
    if (known.code == data_type) return std::string(known.name);
  }
  return data_type < 0 ? std::string() : fmt::format("0x{:x}", data_type);
}

std::int64_t bits_of_type(std::string_view name) {
  if (name.starts_with("0x")) return 0;
  const std::size_t last_other = name.find_last_not_of("0123456789");
  const std::string_view digits =
      last_other == std::string_view::npos ? std::string_view() : name.substr(last_other + 1);
  const std::int64_t bits = parse_number<std::int64_t>(digits).value_or(0);
  return bits <= 64 ? bits : 0;
}

Result<HtpGraph> read_htp_graph(ByteSource& source, CountedNotes& losses) {
  TRY_AS(json, JsonText::load(source, losses));
  HtpGraph graph;
  GraphReader(*json, graph).read();
  if (graph.nodes.empty() && graph.tensors.empty()) {
    return input_error("{}: is an HTP graph without nodes and tensors; decode the log again",
                       source.name());
  }
  return graph;
}

Result<HtpGraph> read_qnn_graph(ByteSource& source, CountedNotes& losses) {
  auto graph = read_htp_graph(source, losses);
  if (!graph) return graph;
  graph->origin = Origin::estimated;
  for (GraphNode& node : graph->nodes) {
    node.qnn_op_type = node.htp_op;
    if ((node.id & named) != 0) node.qnn_op = StringId(std::uint32_t(node.id));
  }
  return graph;
}

}  // namespace npuscope::qnn
