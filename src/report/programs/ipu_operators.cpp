#include "report/programs/ipu_operators.hpp"

#include <algorithm>

namespace npuscope::report {
namespace {

using sigmastar::Fusion;
using sigmastar::Model;
using sigmastar::ModelOperator;
using sigmastar::ModelTensor;

const ModelTensor* tensor_at(const Model& model, std::int32_t index) {
  return index >= 0 && std::size_t(index) < model.tensors.size()
             ? &model.tensors[std::size_t(index)]
             : nullptr;
}

std::vector<std::string> names_of(const Model& model, const std::vector<std::int32_t>& tensors) {
  std::vector<std::string> names;
  for (const std::int32_t index : tensors) {
    const ModelTensor* tensor = tensor_at(model, index);
    if (tensor != nullptr) names.push_back(tensor->name);
  }
  return names;
}

Section summary(const Model& model, std::uint64_t layers) {
  const auto& operators = model.operators;
  const auto groups = std::count_if(operators.begin(), operators.end(),
                                    [](const auto& each) { return each.fusion == Fusion::first; });
  Section section{.key = "model", .title = "MODEL"};
  section.facts = {{{"identifier", "identifier"}, model.identifier},
                   {{"description", "description"}, model.description},
                   {{"operators", "operators", Format::count}, operators.size()},
                   {{"layers", "layers of the hardware", Format::count}, layers},
                   {{"fused_groups", "fused groups", Format::count}, groups},
                   {{"tensors", "tensors", Format::count}, model.tensors.size()}};
  return section;
}

}  // namespace

Document make_ipu_operators_document(const Model& model) {
  Section section{.key = "operators", .title = "OPERATORS"};
  section.table.fields = {{"index", "index", Format::count},
                          {"type", "type"},
                          {"layer", "layer", Format::count},
                          {"group", "group"},
                          {"output", "first output"},
                          {"shape", "shape", Format::numbers, false},
                          {"dtype", "dtype", Format::name, false},
                          {"inputs", "inputs", Format::names, false},
                          {"outputs", "", Format::names}};
  std::int64_t layers = 0;
  for (std::size_t i = 0; i < model.operators.size(); ++i) {
    const ModelOperator& each = model.operators[i];
    layers += each.takes_layer();
    const ModelTensor* output =
        each.outputs.empty() ? nullptr : tensor_at(model, each.outputs.front());
    Value shape, type;
    if (output != nullptr) {
      shape = std::vector<std::int64_t>(output->shape.begin(), output->shape.end());
      type = sigmastar::tensor_type_name(output->type);
    }
    section.table.rows.push_back({i, each.type, each.is_alias() ? Value() : Value(layers - 1),
                                  name_of(each.fusion), each.label, std::move(shape),
                                  std::move(type), names_of(model, each.inputs),
                                  names_of(model, each.outputs)});
  }
  section.remarks = {
      "A fused group (first, member) is one layer of the hardware, whose time is its first "
      "operator's. A Reshape_Alias is a view and takes none."};
  Document document;
  document.sections = {summary(model, std::uint64_t(layers)), std::move(section)};
  return document;
}

}  // namespace npuscope::report
