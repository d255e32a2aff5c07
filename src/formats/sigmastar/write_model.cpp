#include "formats/sigmastar/write_model.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "base/flatbuffer.hpp"
#include "formats/sigmastar/tflite_schema.hpp"

namespace npuscope::sigmastar {
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
