// HTP_GRAPH: tensors and nodes by id, indented as the viewer does it. A node is an op that makes a
// tensor and has that tensor's id; of a sliced op it has the cycles of one slice.
#include <set>

#include "formats/qnn/write/write_dominant_path.hpp"
#include "formats/qnn/write/write_text.hpp"

namespace npuscope::qnn::optrace {

namespace {

constexpr std::string_view graph_header =
    "{\n \"header\": {\n      \"header_version\": {\n          \"major\": 1,\n"
    "         \"minor\": 0,\n          \"patch\": 0\n      },\n       \"version\": {\n"
    "           \"major\": 1,\n           \"minor\": 0,\n           \"patch\": 0\n       },\n"
    "      \"artifact_type\": \"HTP_GRAPH\"\n   },\n  \"model.cpp\": \"htp_graph\",\n"
    "  \"graph\": {\n    \"tensors\": {\n";

// Keys of scalar_params' values: the QNN type, in decimal.
constexpr int float32_code = int(TensorType::float32);
constexpr int int32_code = int(TensorType::int32);
constexpr int int64_code = int(TensorType::int64);
constexpr int string_code = 0x0608;

std::string json_piece(std::string_view text) {
  std::string json;
  JsonWriter(json).value(text);
  return json;
}

class GraphPrinter {
 public:
  GraphPrinter(const OptraceSet& set, TextOutput& out)
      : set_(set), out_(out), first_(representatives(set)), path_(dominant_path_of(set)) {}

  void print() {
    const auto order = ops_by_id(set_);
    out_.add(graph_header);
    std::size_t number = 0;
    for (const std::uint32_t op : order) {
      if (set_.ops[op].has_output) print_tensor(set_.ops[op], number++);
    }
    out_.add(number > 0 ? "\n    },\n    \"nodes\": {\n" : "    },\n    \"nodes\": {\n");
    std::set<std::string_view> types;
    bool any = false;
    for (const std::uint32_t op : order) {
      if (!set_.ops[op].has_output || set_.ops[op].flag == OpFlag::constant) continue;
      out_.add(any ? ",\n" : "");
      print_node(op);
      types.insert(set_.op_types[set_.ops[op].type].name);
      any = true;
    }
    out_.add(any ? "\n    }\n  },\n  \"op_types\": [" : "    }\n  },\n  \"op_types\": [");
    any = false;
    for (const std::string_view type : types) {
      out_.print("{}\n    {}", any ? "," : "", json_piece(type));
      any = true;
    }
    out_.add("\n  ]\n}\n");
  }

 private:
  void print_tensor(const HtpOp& op, std::size_t number) {
    out_.print("{}      \"{}\": {{\n        \"id\": {},\n        \"type\": {},\n",
               number > 0 ? ",\n" : "", padded_id(op.id), number,
               op.flag == OpFlag::constant ? 4 : 3);
    out_.print("        \"data_type\": {},\n        \"dims\": [", std::uint32_t(op.data_type));
    if (op.dims.size() < 2) {
      out_.print("{}]\n\n      }}", op.dims.empty() ? 1 : op.dims[0]);
      return;
    }
    for (std::size_t i = 0; i < op.dims.size(); ++i) {
      out_.print("{}\n          {}", i > 0 ? "," : "", op.dims[i]);
    }
    out_.add("\n        ]\n\n      }");
  }

  template <class Value>
  void print_parameter(std::string_view name, int code, const Value& value) {
    out_.print("            \"{}\": {{\n              \"{}\": {}\n             }},\n", name, code,
               value);
  }
  void print_text_parameter(std::string_view name, std::string_view text) {
    print_parameter(name, string_code, json_piece(text));
  }

  void print_cycles(std::uint32_t index) {
    const std::uint32_t instance = first_[index];
    const HtpOp& op = set_.ops[index];
    if (instance == ~0u) return;  // nothing was measured
    print_parameter("mem_dram_read", int64_code, op.traffic.dram_read);
    print_parameter("mem_dram_write", int64_code, op.traffic.dram_write);
    print_parameter("mem_vtcm_read", int64_code, op.traffic.vtcm_read);
    print_parameter("mem_vtcm_write", int64_code, op.traffic.vtcm_write);
    const Instance& run = set_.instances[instance];
    print_parameter("cycles_start", int64_code, run.start_cycle);
    print_parameter("cycles_duration", int64_code, run.cycles);
    print_parameter("cycles_dominant", int64_code, path_.owned[instance]);
    print_parameter("cycles_per_packet", int64_code, fmt::format("{:g}", cycles_per_packet(run)));
  }

  void print_node(std::uint32_t index) {
    const HtpOp& op = set_.ops[index];
    const GraphOp& owner = set_.graph_ops[op.owner];
    out_.print("      \"{}\": {{\n        \"type\": {}, \n        \"grouping\": {}, \n",
               padded_id(op.id), json_piece(set_.op_types[op.type].name), json_piece(owner.name));
    out_.add("        \"tensor_params\": {},\n        \"scalar_params\": {\n");
    print_parameter("output_step_size", float32_code, fmt::format("{:g}", op.step_size));
    print_parameter("output_zero_offset", int32_code, op.zero_offset);
    print_parameter("output_rank", int32_code, op.dims.size());
    print_text_parameter("qnn_op_type", owner.type);
    print_text_parameter("qnn_op_name", owner.name);
    print_cycles(index);
    out_.print("            \"op_flags\": {{\n              \"{}\": \"{}\"\n             }}\n",
               string_code, name_of(op.flag));
    out_.add("        },\n        \"input_names\": [");
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      out_.print("{}\n          \"{}\"", i > 0 ? "," : "", padded_id(set_.ops[op.inputs[i]].id));
    }
    out_.print("{}],\n        \"output_names\": [\"{}\"]\n      }}",
               op.inputs.empty() ? "" : "\n        ", padded_id(op.id));
  }

  const OptraceSet& set_;
  TextOutput& out_;
  const std::vector<std::uint32_t> first_;
  const DominantPath path_;
};

}  // namespace

void write_htp_graph(const OptraceSet& set, const TextSink& sink) {
  TextOutput out(sink);
  GraphPrinter(set, out).print();
}

}  // namespace npuscope::qnn::optrace
