#include "formats/sigmastar/model.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "base/flatbuffer.hpp"
#include "base/text.hpp"
#include "formats/sigmastar/tflite_schema.hpp"

namespace npuscope::sigmastar {

const char* name_of(Fusion fusion) {
  constexpr const char* names[] = {"alone", "first", "member"};
  return names[std::size_t(fusion)];
}

namespace {

// Real models have hundreds of operators with names of some fifty characters; lists in a forged
// file may name one thing many times.
constexpr std::size_t max_rows = std::size_t{1} << 18;
constexpr std::size_t longest_name = 256;

std::string name_in(std::string_view text) { return std::string(text.substr(0, longest_name)); }

struct OperatorType {
  std::string name;
  bool is_custom = false;
};

OperatorType type_of(const FlatTable& code) {
  const std::int32_t builtin =
      std::max<std::int32_t>(code.scalar<std::int8_t>(slot::code_deprecated).value_or(0),
                             code.scalar<std::int32_t>(slot::code_builtin).value_or(0));
  if (builtin != custom_operator) return {builtin_operator_name(builtin), false};
  const std::string_view custom = code.text(slot::code_custom);
  return {custom.empty() ? "CUSTOM" : name_in(custom), true};
}

ModelTensor tensor_of(const FlatTable& table) {
  ModelTensor tensor;
  tensor.name = name_in(table.text(slot::tensor_name));
  tensor.type = std::int32_t{table.scalar<std::int8_t>(slot::tensor_type).value_or(0)};
  tensor.shape = table.scalars<std::int32_t>(slot::tensor_shape);
  tensor.buffer = table.scalar<std::uint32_t>(slot::tensor_buffer).value_or(0);
  return tensor;
}

// The mark of a member in the middle of a group is not public: it is whatever stands between first
// and last.
void mark_groups(std::vector<ModelOperator>& operators) {
  bool in_group = false;
  for (ModelOperator& each : operators) {
    if (each.mark == mark_first) {
      each.fusion = Fusion::first;
      in_group = true;
    } else if (in_group && each.mark != mark_alone) {
      each.fusion = Fusion::member;
      in_group = each.mark != mark_last;
    } else {
      each.fusion = Fusion::alone;
      in_group = false;
    }
  }
}

std::string label_of(const ModelOperator& of, const std::vector<ModelTensor>& tensors) {
  for (const std::int32_t output : of.outputs) {
    if (output >= 0 && std::size_t(output) < tensors.size()) {
      return tensors[std::size_t(output)].name;
    }
  }
  return {};
}

Status read_graph(const FlatTable& graph, const std::vector<OperatorType>& types, Model& model,
                  const std::string& name) {
  const auto tensors = graph.tables(slot::graph_tensors);
  const auto operators = graph.tables(slot::graph_operators);
  if (tensors.size() > max_rows || operators.size() > max_rows) {
    return input_error(
        "{}: has {} tensors and {} operators, more than any model; the file is broken", name,
        tensors.size(), operators.size());
  }
  for (const FlatTable& table : tensors) {
    model.tensors.push_back(tensor_of(table));
  }
  model.inputs = graph.scalars<std::int32_t>(slot::graph_inputs);
  model.outputs = graph.scalars<std::int32_t>(slot::graph_outputs);
  for (const FlatTable& table : operators) {
    ModelOperator each;
    const std::uint32_t code = table.scalar<std::uint32_t>(slot::operator_code).value_or(0);
    if (code >= types.size()) {
      return input_error(
          "{}: operator {} is of type {} but the model has {} types; the file is broken, copy it "
          "again",
          name, model.operators.size(), code, types.size());
    }
    each.type = types[code].name;
    each.is_custom = types[code].is_custom;
    each.mark = table.scalar<std::uint32_t>(slot::operator_fusion).value_or(0);
    each.inputs = table.scalars<std::int32_t>(slot::operator_inputs);
    each.outputs = table.scalars<std::int32_t>(slot::operator_outputs);
    each.label = label_of(each, model.tensors);
    model.operators.push_back(std::move(each));
  }
  mark_groups(model.operators);
  return {};
}

tl::unexpected<Error> broken(const Flatbuffer& buffer, const std::string& name) {
  if (buffer.exhausted()) {
    return input_error(
        "{}: its lists add up to more than four times the file (at byte {}); the file is broken, "
        "copy it again",
        name, *buffer.problem());
  }
  return input_error(
      "{}: what stands at byte {} leads outside the file; the file is cut or broken, copy it "
      "again",
      name, *buffer.problem());
}

}  // namespace

bool looks_like_model(std::string_view head) {
  constexpr std::size_t at = 4;
  return head.size() >= 2 * at && (head.substr(at, 4) == "SIM2" || head.substr(at, 4) == "TFL3");
}

Result<Model> read_model(ByteSpan bytes, const std::string& name) {
  if (bytes.empty()) return input_error("{}: an empty file; copy it again", name);
  if (!looks_like_model(as_text(bytes.first(std::min<std::size_t>(bytes.size(), 8))))) {
    return input_error(
        "{}: no fixed model (its identifier at byte 4 is '{}', not SIM2 or TFL3); name the file "
        "that ends in fixed.sim",
        name, printable(Flatbuffer(bytes).identifier()));
  }
  Flatbuffer buffer(bytes);
  Model model;
  model.identifier = buffer.identifier();
  const FlatTable root = buffer.root();
  model.description = root.text(slot::model_description);
  model.metadata_buffer = root.scalars<std::int32_t>(slot::model_metadata_buffer);
  std::vector<OperatorType> types;
  for (const FlatTable& code : root.tables(slot::model_codes)) types.push_back(type_of(code));
  const auto graphs = root.tables(slot::model_subgraphs);
  model.subgraphs = std::uint32_t(graphs.size());
  Status read;
  if (!graphs.empty()) read = read_graph(graphs.front(), types, model, name);
  if (buffer.problem()) return broken(buffer, name);
  if (!read) return tl::unexpected(read.error());
  return model;
}

namespace {

FlatObject code_of(const std::string& type, bool is_custom) {
  const std::int32_t code =
      is_custom ? custom_operator : builtin_operator_code(type).value_or(custom_operator);
  constexpr std::int32_t max_deprecated = 127;  // later codes only stand in the newer field
  FlatObject table = FlatObject::table();
  table.put_int8(slot::code_deprecated, std::int8_t(std::min(code, max_deprecated)));
  table.put_int32(slot::code_builtin, code);
  if (code == custom_operator) table.put(slot::code_custom, FlatObject::text(type));
  return table;
}

FlatObject tensor_table(const ModelTensor& tensor) {
  FlatObject table = FlatObject::table();
  table.put(slot::tensor_shape, FlatObject::int32s(tensor.shape))
      .put_int8(slot::tensor_type, std::int8_t(tensor.type))
      .put_uint32(slot::tensor_buffer, tensor.buffer)
      .put(slot::tensor_name, FlatObject::text(tensor.name));
  return table;
}

FlatObject operator_table(const ModelOperator& each, std::uint32_t code) {
  FlatObject table = FlatObject::table();
  table.put_uint32(slot::operator_code, code)
      .put(slot::operator_inputs, FlatObject::int32s(each.inputs))
      .put(slot::operator_outputs, FlatObject::int32s(each.outputs));
  if (each.mark != 0) table.put_uint32(slot::operator_fusion, each.mark);
  return table;
}

}  // namespace

std::string write_model(const Model& model) {
  std::map<std::pair<std::string, bool>, std::uint32_t> known;
  std::vector<FlatObject> codes, operators, tensors;
  for (const ModelOperator& each : model.operators) {
    const auto [found, is_new] =
        known.try_emplace({each.type, each.is_custom}, std::uint32_t(codes.size()));
    if (is_new) codes.push_back(code_of(each.type, each.is_custom));
    operators.push_back(operator_table(each, found->second));
  }
  for (const ModelTensor& tensor : model.tensors) tensors.push_back(tensor_table(tensor));
  FlatObject graph = FlatObject::table();
  graph.put(slot::graph_tensors, FlatObject::tables(std::move(tensors)))
      .put(slot::graph_inputs, FlatObject::int32s(model.inputs))
      .put(slot::graph_outputs, FlatObject::int32s(model.outputs))
      .put(slot::graph_operators, FlatObject::tables(std::move(operators)));
  FlatObject root = FlatObject::table();
  root.put_uint32(slot::model_version, 3)
      .put(slot::model_codes, FlatObject::tables(std::move(codes)))
      .put(slot::model_subgraphs, FlatObject::tables({std::move(graph)}))
      .put(slot::model_description, FlatObject::text(model.description))
      .put(slot::model_metadata_buffer, FlatObject::int32s(model.metadata_buffer));
  return write_flatbuffer(root, model.identifier.empty() ? "SIM2" : model.identifier);
}

}  // namespace npuscope::sigmastar
