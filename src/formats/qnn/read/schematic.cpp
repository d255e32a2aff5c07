#include "formats/qnn/read/schematic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/has_text.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "formats/qnn/read/literals.hpp"

namespace npuscope::qnn {
namespace {

constexpr std::uint64_t max_text = std::uint64_t{1} << 30;
constexpr std::size_t max_nodes = std::size_t{1} << 20;  // of some 200 bytes each
constexpr std::size_t max_order_edges = std::size_t{1} << 22;
constexpr std::size_t max_fused = 8;    // into one op
constexpr std::size_t max_inputs = 64;  // of a QNN node, of which one may be fused into it
constexpr std::string_view qnn_prefix = "q::QNN_";

std::uint32_t qnn_node_of(std::uint64_t id) { return std::uint32_t(id); }

class SchematicReader {
 public:
  SchematicReader(std::string_view text, Schematic& schematic, CountedNotes& losses)
      : literals_(text), schematic_(schematic), graph_(schematic.graph), losses_(losses) {}

  void read(std::size_t bytes) {
    constexpr std::size_t bytes_an_op = 1'000;
    const std::size_t ops = std::min(bytes / bytes_an_op, max_nodes);
    node_of_.reserve(ops);
    graph_.nodes.reserve(ops);
    while (const auto name = literals_.next_assignment()) {
      if (*name == "graph_before_optimization") read_qnn_graph();
      if (*name == "graph_after_optimization") read_graph();
      if (*name == "bandwidth_information") read_traffic();
      if (*name == "graph_res_flags0") read_flags();
      if (*name == "opdesc_map") read_descriptions();
      if (*name == "qnn_name_translations") read_names();
      if (*name == "qnn_graph_name") schematic_.name = literals_.text().value_or("");
      if (*name == "tcm_block_info") read_blocks();
    }
    if (const auto at = literals_.broken()) {
      losses_.add(Severity::error, *at, "a table of the schematic breaks off; its rest is lost");
    }
  }

  void finish(std::string_view text) {
    read_checkpoints(text);
    for (const GraphNode& node : graph_.nodes) has_ops_.insert(qnn_node_of(node.id));
    for (GraphNode& node : graph_.nodes) complete(node);
    for (const auto& [id, flags] : flags_of_) {
      if (GraphNode* const node = find_node(id)) node->flags = flags;
    }
    for (const auto& [id, traffic] : traffic_of_) {
      if (GraphNode* const node = find_node(id)) node->traffic = traffic;
    }
    if (left_out_ > 0) {
      losses_.add(Severity::error, 0, fmt::format("ops beyond the first {}; left out", max_nodes),
                  left_out_);
    }
  }

 private:
  void read_qnn_graph() {
    literals_.each_member([&] {
      const auto id = literals_.number_key();
      if (!id) return;
      std::string_view operation;
      std::vector<std::uint32_t> inputs;
      literals_.each_member([&] {
        const auto key = literals_.text_key();
        if (!key) return;
        if (*key == "operation") {
          operation = literals_.text().value_or("");
        } else if (*key == "inputs") {
          literals_.each_element([&] {
            const auto input = read_pair().first;
            if (input && inputs.size() < max_inputs) inputs.push_back(qnn_node_of(*input));
          });
        } else {
          literals_.skip();
        }
      });
      if (operation.starts_with('$') || operation_of_.size() >= max_nodes) return;
      ++schematic_.qnn_nodes;
      const std::uint32_t node = qnn_node_of(*id);
      operation_of_[node] = graph_.strings.intern(operation);
      if (!inputs.empty()) inputs_of_[node] = std::move(inputs);
    });
  }

  void read_graph() {
    literals_.each_member([&] {
      const auto id = literals_.number_key();
      if (id) read_op(*id);
    });
  }

  void read_op(std::uint64_t id) {
    GraphNode node;
    node.id = id;
    node.first_input = std::uint32_t(graph_.uses.size());
    outputs_.clear();
    literals_.each_member([&] {
      const auto key = literals_.text_key();
      if (!key) return;
      if (*key == "operation") {
        node.htp_op = graph_.strings.intern(literals_.text().value_or(""));
      } else if (*key == "inputs") {
        literals_.each_element([&] { read_input(); });
      } else if (*key == "outputs") {
        literals_.each_element([&] { outputs_.push_back(read_output()); });
      } else {
        literals_.skip();
      }
    });
    node.inputs = std::uint32_t(graph_.uses.size()) - node.first_input;
    if (graph_.nodes.size() + graph_.tensors.size() >= max_nodes) {
      ++left_out_;
      return graph_.uses.resize(node.first_input);
    }
    const std::string_view operation = graph_.strings[node.htp_op];
    const bool is_op = !operation.starts_with('$');
    node.first_output = std::uint32_t(graph_.uses.size());
    for (std::uint32_t i = 0; i < outputs_.size(); ++i) {
      GraphTensor& tensor = outputs_[i];
      tensor.id = tensor_id(id, i);
      tensor.is_constant = operation == "$Const";
      tensor.is_shape = operation == "$Shape";
      if (is_op) graph_.uses.push_back(tensor.id);
      graph_.tensors.push_back(tensor);
    }
    if (!is_op) return;
    node.outputs = std::uint32_t(graph_.uses.size()) - node.first_output;
    add(node);
  }

  // Of an op and which of its outputs.
  std::pair<std::optional<std::uint64_t>, std::uint32_t> read_pair() {
    std::optional<std::uint64_t> id, output;
    literals_.each_element([&] {
      const auto number = literals_.whole();
      (id ? output : id) = number;
    });
    return {id, std::uint32_t(output.value_or(0))};
  }

  void read_input() {
    const auto [id, output] = read_pair();
    if (id) graph_.uses.push_back(tensor_id(*id, output));
  }

  GraphTensor read_output() {
    GraphTensor tensor;
    dims_.clear();
    literals_.each_member([&] {
      const auto key = literals_.text_key();
      if (!key) return;
      if (*key == "dtype") {
        tensor.type = graph_.strings.intern(literals_.text().value_or(""));
      } else if (*key == "dims") {
        literals_.each_element([&] { dims_.push_back(literals_.signed_whole().value_or(0)); });
      } else {
        literals_.skip();
      }
    });
    if (!dims_.empty()) tensor.dims = graph_.shapes.intern(dims_);
    return tensor;
  }

  // A tensor has the id of the op that makes it; further ones get numbers beyond those in use.
  std::uint64_t tensor_id(std::uint64_t op, std::uint32_t output) {
    if (output == 0) return op;
    const auto [place, is_new] = further_outputs_.try_emplace({op, output}, 0);
    if (is_new) place->second = (std::uint64_t{1} << 63) | further_outputs_.size();
    return place->second;
  }

  void add(const GraphNode& node) {
    if (node_of_.try_emplace(node.id, graph_.nodes.size()).second) graph_.nodes.push_back(node);
  }

  GraphNode* find_node(std::uint64_t id) {
    const auto found = node_of_.find(id);
    return found == node_of_.end() ? nullptr : &graph_.nodes[found->second];
  }

  void read_traffic() {
    literals_.each_element([&] {
      std::optional<std::uint64_t> id;
      Traffic traffic;
      literals_.each_member([&] {
        const auto key = literals_.text_key();
        if (!key) return;
        const auto kind = std::ranges::find(Traffic::qhas_keys, *key);
        if (*key == "opid") {
          id = literals_.whole();
        } else if (kind != Traffic::qhas_keys.end()) {
          traffic.bytes[std::size_t(kind - Traffic::qhas_keys.begin())] =
              literals_.signed_whole().value_or(missing);
        } else {
          literals_.skip();
        }
      });
      if (id && traffic_of_.size() < max_nodes) traffic_of_.push_back({*id, traffic});
    });
  }

  // {'graph': {0x31: {'flags' : ('uses_hvx',)}}}
  void read_flags() {
    literals_.each_member([&] {
      if (!literals_.text_key()) return;
      literals_.each_member([&] {
        const auto id = literals_.number_key();
        if (!id) return;
        literals_.each_member([&] {
          const auto key = literals_.text_key();
          if (!key) return;
          if (*key != "flags") return literals_.skip();
          std::string words;
          literals_.each_element([&] {
            words += words.empty() ? "" : " ";
            words += literals_.text().value_or("");
          });
          if (!words.empty() && flags_of_.size() < max_nodes)
            flags_of_.push_back({*id, graph_.strings.intern(words)});
        });
      });
    });
  }

  // '#1': opdesc( 0x418b00000002, "q::*InputSlice", category='dummy', ...)
  void read_descriptions() {
    literals_.each_member([&] {
      if (!literals_.text_key()) return;
      std::optional<std::uint64_t> id;
      std::string_view name;
      bool is_dummy = false;
      std::size_t place = 0;
      literals_.call([&](std::string_view argument) {
        const std::size_t at = argument.empty() ? place++ : 2;
        if (at == 0) {
          id = literals_.whole();
        } else if (at == 1) {
          name = literals_.text().value_or("");
        } else if (argument == "category") {
          is_dummy = literals_.text() == "dummy";
        } else {
          literals_.skip();
        }
      });
      if (!id || is_dummy || node_of_.contains(*id)) return;
      if (graph_.nodes.size() + graph_.tensors.size() >= max_nodes) {
        ++left_out_;
        return;
      }
      GraphNode node;
      node.id = *id;
      node.htp_op = graph_.strings.intern(name);
      add(node);
    });
  }

  void read_names() {
    literals_.each_member([&] {
      const auto id = literals_.number_key();
      if (!id) return;
      if (const auto name = literals_.text(); name && name_of_.size() < max_nodes) {
        name_of_[qnn_node_of(*id)] = graph_.strings.intern(*name);
      }
    });
  }

  // 28: (0xfe000, 0x18800), address and bytes
  void read_blocks() {
    literals_.each_member([&] {
      if (!literals_.number_key()) return;
      std::optional<std::int64_t> address, bytes;
      literals_.each_element([&] {
        const auto number = literals_.signed_whole();
        (address ? bytes : address) = number;
      });
      constexpr std::int64_t max = std::int64_t{1} << 40;
      if (!address || !bytes || *address < 0 || *bytes < 0 || *address > max || *bytes > max) {
        return;
      }
      schematic_.vtcm_end = std::max(schematic_.vtcm_end, *address + *bytes);
    });
  }

  struct Checkpoint {
    std::int64_t number = 0;
    std::uint64_t op = 0;
  };
  // checkpoints.append({ 0x439200000017 : [ 5 , -1 ], …}): a call, not an assignment.
  void read_checkpoints(std::string_view text) {
    std::vector<Checkpoint> counts, waits;
    std::size_t ops = 0;
    constexpr std::string_view begin = "\ncheckpoints.append(";
    const char* at = text.data();
    const char* const end = at + text.size();
    while (const void* const found =
               memmem(at, std::size_t(end - at), begin.data(), begin.size())) {
      at = static_cast<const char*>(found) + begin.size();
      Literals table(std::string_view(at, end));
      table.each_member([&] {
        const auto id = table.number_key();
        if (!id || ++ops > 2 * max_nodes) return;
        std::size_t place = 0;
        table.each_element([&] {
          const std::int64_t checkpoint = table.signed_whole().value_or(0);
          if (checkpoint > 0) (place == 0 ? waits : counts).push_back({checkpoint, *id});
          ++place;
        });
      });
      at += table.offset();  // what one table has passed no other one walks again
    }
    std::ranges::stable_sort(counts, {}, &Checkpoint::number);
    std::ranges::stable_sort(waits, {}, &Checkpoint::number);
    for (auto before = counts.begin(); before != counts.end();) {
      const auto from =
          std::ranges::equal_range(before, counts.end(), before->number, {}, &Checkpoint::number);
      const auto to = std::ranges::equal_range(waits, before->number, {}, &Checkpoint::number);
      before = from.end();
      if (to.empty()) continue;
      if (from.size() * to.size() + schematic_.order.size() > max_order_edges) {
        losses_.add(Severity::warning, 0, "checkpoints of very many ops; their order is left out");
        continue;
      }
      for (const Checkpoint& one : from) {
        for (const Checkpoint& other : to) schematic_.order.push_back({one.op, other.op});
      }
    }
  }

  void complete(GraphNode& node) {
    const std::uint32_t qnn_node = qnn_node_of(node.id);
    const auto operation = operation_of_.find(qnn_node);
    if (operation == operation_of_.end()) return;
    const std::string_view type = graph_.strings[operation->second];
    if (const auto name = name_of_.find(qnn_node); name != name_of_.end()) {
      node.qnn_op = name->second;
    } else if (type == "q::Input" || type == "q::Output") {
      node.qnn_op = graph_.strings.intern(type.substr(3));
    }
    node.qnn_op_type = types_with_fused(qnn_node);
  }

  std::string_view type_of(std::uint32_t qnn_node) const {
    const auto operation = operation_of_.find(qnn_node);
    if (operation == operation_of_.end()) return {};
    const std::string_view type = graph_.strings[operation->second];
    return type.starts_with(qnn_prefix) ? type.substr(qnn_prefix.size()) : std::string_view();
  }

  // "Conv2d, Relu" of a Relu into which the compiler fused what makes its input: that has no op of
  // its own, and its tiles carry the number of the Relu.
  StringId types_with_fused(std::uint32_t qnn_node) {
    const auto [place, is_new] = types_of_.try_emplace(qnn_node, StringId::empty);
    if (!is_new) return place->second;
    std::string types(type_of(qnn_node));
    if (types.empty()) return place->second;
    std::uint32_t node = qnn_node;
    for (std::size_t fused = 0; fused < max_fused; ++fused) {
      const auto inputs = inputs_of_.find(node);
      if (inputs == inputs_of_.end()) break;
      const auto source = std::ranges::find_if(inputs->second, [&](std::uint32_t input) {
        return !type_of(input).empty() && !has_ops_.contains(input);
      });
      if (source == inputs->second.end()) break;
      types = fmt::format("{}, {}", type_of(*source), types);
      node = *source;
    }
    return place->second = graph_.strings.intern(types);
  }

  Literals literals_;
  Schematic& schematic_;
  HtpGraph& graph_;
  CountedNotes& losses_;
  std::unordered_map<std::uint64_t, std::size_t> node_of_;
  std::vector<std::pair<std::uint64_t, Traffic>> traffic_of_;  // by op; the last one counts
  std::vector<std::pair<std::uint64_t, StringId>> flags_of_;
  // By QNN node.
  std::unordered_map<std::uint32_t, StringId> operation_of_, name_of_, types_of_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> inputs_of_;
  std::unordered_set<std::uint32_t> has_ops_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> further_outputs_;
  std::vector<GraphTensor> outputs_;  // of the op that is being read
  std::vector<std::int64_t> dims_;
  std::uint64_t left_out_ = 0;
};

}  // namespace

bool is_schematic(std::string_view head) {
  return has_text(head, "python_pprint_graph_summary") ||
         has_text(head, "graph_before_optimization = {") ||
         has_text(head, "graph_after_optimization = {");
}

Result<Schematic> read_schematic(ByteSource& source, CountedNotes& losses) {
  TRY_AS(text, read_all(source, max_text));
  Schematic schematic;
  schematic.graph.origin = Origin::estimated;
  SchematicReader reader(*text, schematic, losses);
  reader.read(text->size());
  reader.finish(*text);
  if (schematic.graph.nodes.empty()) {
    return input_error("{}: is a schematic without an op; compile the model again", source.name());
  }
  return schematic;
}

}  // namespace npuscope::qnn
