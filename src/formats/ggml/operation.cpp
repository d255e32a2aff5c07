#include "formats/ggml/operation.hpp"

#include <algorithm>
#include <map>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace npuscope::ggml {
namespace {

constexpr std::size_t max_operands = 32;

std::vector<std::string_view> parts_of(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (parts.size() < max_operands) {
    const std::size_t end = text.find(separator);
    const std::string_view part = trimmed(text.substr(0, end));
    parts.push_back(part.empty() ? text.substr(0, 0) : part);  // of here, for fit()
    if (end == text.npos) break;
    text.remove_prefix(end + separator.size());
  }
  return parts;
}

struct Sides {
  std::vector<std::string_view> inputs, outputs;
};

Sides sides_of(std::string_view text) {
  const std::size_t arrow = text.find(" -> ");
  if (arrow == text.npos) return {parts_of(text, " x "), {}};
  return {parts_of(text.substr(0, arrow), " x "), parts_of(text.substr(arrow + 4), " x ")};
}

// Names may hold the separator; the numbers of dimensions are not in doubt. What is too much is of
// the last name.
void fit(std::vector<std::string_view>& names, std::size_t count) {
  if (names.size() <= count || count == 0) return;
  const std::string_view last = names[count - 1];
  names[count - 1] = {last.data(),
                      std::size_t(names.back().data() + names.back().size() - last.data())};
  names.resize(count);
}

std::optional<Extents> extents_of(std::string_view text) {
  Extents extents{1, 1, 1, 1};
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const auto extent = take_number<std::int64_t>(text);
    if (!extent || *extent < 0 || *extent > std::int64_t{1} << 40) return std::nullopt;
    extents[i] = *extent;
    if (text.empty()) return extents;
    if (!text.starts_with(':')) return std::nullopt;
    text.remove_prefix(1);
  }
  return std::nullopt;
}

std::string_view without_views(std::string_view name) { return name.substr(0, name.find(" (")); }

// The number at the end of a name, behind `mark`.
std::optional<int> number_behind(std::string_view name, std::string_view mark) {
  const std::size_t at = name.rfind(mark);
  if (at == name.npos || at == 0) return std::nullopt;
  const auto number = parse_number<int>(name.substr(at + mark.size()));
  return number && *number >= 0 ? number : std::nullopt;
}

std::optional<int> layer_in_weight(std::string_view name) {
  const std::size_t at = name.find("blk.");
  if (at == name.npos) return std::nullopt;
  std::string_view rest = name.substr(at + 4);
  const auto layer = take_number<int>(rest);
  return layer && *layer >= 0 && rest.starts_with('.') ? layer : std::nullopt;
}

void find_layer(Operation& operation) {
  for (const Tensor& input : operation.inputs) {
    if ((operation.layer = layer_in_weight(input.name))) return;
  }
  const auto in_names = [&](const std::vector<Tensor>& tensors) {
    for (const Tensor& tensor : tensors) {
      const std::string_view name = without_views(tensor.name);
      if ((operation.layer =
               name.starts_with("cache_") ? number_behind(name, "_l") : number_behind(name, "-"))) {
        return true;
      }
    }
    return false;
  };
  if (in_names(operation.outputs)) return;
  const auto tells = [](const Tensor& tensor) {
    constexpr std::array<std::string_view, 4> words{"output", "result_", "token_embd", "inp_"};
    return std::ranges::any_of(
        words, [&](std::string_view word) { return tensor.name.starts_with(word); });
  };
  operation.is_of_no_layer =
      std::ranges::any_of(operation.inputs, tells) || std::ranges::any_of(operation.outputs, tells);
  for (const Tensor& input : operation.inputs) {
    const std::string_view name = without_views(input.name);
    if (!name.starts_with("cache_")) continue;
    if ((operation.layer = number_behind(name, "_l"))) return;
  }
}

bool is_weight(const Tensor& tensor) { return tensor.name.find(".weight") != tensor.name.npos; }

// "blk.0.ffn_gate.weight" is "ffn_gate", "Qcur-0 (view)" is "Qcur".
std::string base_of(std::string_view name) {
  std::string_view base = without_views(name);
  if (layer_in_weight(base)) {
    base.remove_prefix(base.find("blk.") + 4);
    base.remove_prefix(base.find('.') + 1);
  }
  if (const std::size_t end = base.find(".weight"); end != base.npos) base = base.substr(0, end);
  if (base.starts_with("cache_")) {
    if (number_behind(base, "_l")) base = base.substr(0, base.rfind("_l"));
  } else if (number_behind(base, "-")) {
    base = base.substr(0, base.rfind('-'));
  }
  return std::string(base);
}

// Names that ggml invents for tensors without one differ from build to build.
bool is_invented(std::string_view name) {
  return name.starts_with("node_") || name.starts_with("leaf_") || name.starts_with(' ') ||
         name.empty();
}

bool is_matmul(const Operation& operation) {
  return operation.op.find("MUL_MAT") != operation.op.npos;
}

// The inputs that are weights of a product, and the first that is not.
struct ProductInputs {
  std::vector<const Tensor*> weights;
  const Tensor* activation = nullptr;
};

ProductInputs product_inputs(const Operation& operation) {
  ProductInputs found;
  const auto& inputs = operation.inputs;
  if (!is_matmul(operation) || inputs.size() < 2) return found;
  const bool is_named = std::ranges::any_of(inputs, is_weight);
  const bool all_first = operation.op.find("_NX") != operation.op.npos;
  const bool is_fused = operation.op.find("MUL_MAT+MUL_MAT") != operation.op.npos;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& input = inputs[i];
    const bool is_matrix = input.extents[1] > 1 || input.name.find("norm") == input.name.npos;
    bool takes = is_named ? is_weight(input) && is_matrix : i == 0;
    if (!is_named && all_first) takes = i + 1 < inputs.size();
    if (!is_named && is_fused) takes = i != 1;
    if (takes) found.weights.push_back(&input);
    if (!takes && found.activation == nullptr) found.activation = &input;
  }
  return found;
}

double rows_of(const Extents& extents) {
  return double(extents[1]) * double(extents[2]) * double(extents[3]);
}

void find_work(Operation& operation) {
  const ProductInputs product = product_inputs(operation);
  if (product.weights.empty() || product.activation == nullptr || operation.outputs.empty()) return;
  const bool by_experts = operation.op.find("MUL_MAT_ID") != operation.op.npos;
  const Extents& result = operation.outputs.front().extents;
  const double rows =
      by_experts ? double(result[1]) * double(result[2]) : rows_of(product.activation->extents);
  constexpr double max_rows = 1e12;  // beyond, a forgery
  if (!(rows < max_rows)) return;
  bool knows_bytes = true;
  for (const Tensor* weights : product.weights) {
    const Extents& extents = weights->extents;
    const double of_one = double(extents[0]) * double(extents[1]);
    if (!by_experts && extents[0] != product.activation->extents[0]) continue;
    operation.macs += of_one * rows;
    const double matrices =
        by_experts ? std::min(double(extents[2]), rows) : double(extents[2]) * double(extents[3]);
    const auto bits = bits_of_weight(weights->type);
    knows_bytes = knows_bytes && bits.has_value();
    if (bits && is_weight(*weights)) operation.weight_bytes += of_one * matrices * *bits / 8;
  }
  if (!knows_bytes) operation.weight_bytes = 0;
  constexpr double max = 1e18;  // beyond, a forgery
  if (!(operation.macs < max) || !(operation.weight_bytes < max)) {
    operation.macs = operation.weight_bytes = 0;
    return;
  }
  if (std::ranges::none_of(product.weights, [](const Tensor* each) { return is_weight(*each); })) {
    return;
  }
  operation.tokens = std::int64_t(by_experts ? result[2] : std::int64_t(rows));
}

void find_role(Operation& operation) {
  std::string names;
  const auto add = [&](const std::string& name) {
    if (names.size() < 200) names += (names.empty() ? "" : "+") + name;
  };
  for (const Tensor& input : operation.inputs) {
    if (is_weight(input)) add(base_of(input.name));
  }
  if (!names.empty()) {
    operation.role = names;
    return;
  }
  operation.role = operation.op;
  if (operation.outputs.empty()) return;
  const std::string name = base_of(operation.outputs.back().name);
  if (!is_invented(name) && !name.starts_with("__")) operation.role += " " + name;
}

void complete(Operation& operation) {
  for (const std::string_view word : {"FENCE", "ALLREDUCE", "MDEV_GROUP"}) {
    operation.synchronises = operation.synchronises || operation.op.find(word) != operation.op.npos;
  }
  find_layer(operation);
  find_work(operation);
  find_role(operation);
}

bool add_tensors(std::vector<Tensor>& into, const std::vector<std::string_view>& names,
                 const std::vector<std::string_view>& extents,
                 const std::vector<std::string_view>& types) {
  if (names.size() != extents.size()) return false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto numbers = extents_of(extents[i]);
    if (!numbers) {
      if (names[i] == "NONE" || extents[i] == "NONE") continue;  // a source that is not used
      return false;
    }
    into.push_back({std::string(names[i]), i < types.size() ? std::string(types[i]) : std::string(),
                    *numbers, std::string(extents[i])});
  }
  return true;
}

}  // namespace

std::optional<double> bits_of_weight(std::string_view type) {
  static const std::map<std::string_view, double> bits{
      {"q4_0", 4.5},   {"q4_1", 5},    {"q8_0", 8.5}, {"iq4_nl", 4.5}, {"mxfp4", 4.25},
      {"q2_K", 2.625}, {"q3_K", 4},    {"q4_K", 5},   {"q5_K", 6},     {"q6_K", 7},
      {"q1_0", 1.125}, {"q2_0", 2.25}, {"f16", 16},   {"bf16", 16},    {"f32", 32}};
  const auto found = bits.find(type);
  return found == bits.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Operation> parse_operation(std::string_view text) {
  const bool has_bars = text.find('|') != text.npos;
  std::vector<std::string_view> fields;
  if (has_bars) {
    fields = parts_of(text, "|");
  } else {
    const std::size_t end = text.find(": ");
    if (end == text.npos) return std::nullopt;
    fields = parts_of(text.substr(end + 2), " : ");
    fields.insert(fields.begin(), text.substr(0, end));
  }
  if (fields.size() < 4) return std::nullopt;
  Operation operation;
  operation.op = fields[0];
  if (has_bars && fields.size() > 5 && fields[5] != "----") operation.kernel = fields[5];
  Sides names = sides_of(fields[1]);
  const Sides extents = sides_of(fields[2]), types = sides_of(fields[3]);
  fit(names.inputs, extents.inputs.size());
  fit(names.outputs, extents.outputs.size());
  if (fields[2] != "----" &&
      (!add_tensors(operation.inputs, names.inputs, extents.inputs, types.inputs) ||
       !add_tensors(operation.outputs, names.outputs, extents.outputs, types.outputs))) {
    return std::nullopt;
  }
  complete(operation);
  return operation;
}

std::optional<Operation> parse_first_operation(std::string_view text) {
  Operation operation;
  const std::size_t end = text.find(' ');
  if (end == text.npos || end == 0) return std::nullopt;
  operation.op = text.substr(0, end);
  const Sides sides = sides_of(text.substr(end + 1));
  const auto add = [](std::vector<Tensor>& into, std::string_view part) {
    if (part.ends_with(')')) {
      if (const std::size_t ids = part.rfind("(ids "); ids != part.npos) {
        part = trimmed(part.substr(0, ids));
      }
    }
    const std::size_t cut = part.rfind(' ');
    const auto numbers = cut == part.npos ? std::nullopt : extents_of(part.substr(cut + 1));
    if (!numbers) return false;
    into.push_back(
        {std::string(part.substr(0, cut)), "", *numbers, std::string(part.substr(cut + 1))});
    return true;
  };
  for (const std::string_view part : sides.inputs) {
    if (!add(operation.inputs, part)) return std::nullopt;
  }
  for (const std::string_view part : sides.outputs) {
    if (!add(operation.outputs, part)) return std::nullopt;
  }
  if (operation.outputs.empty()) return std::nullopt;
  complete(operation);
  return operation;
}

}  // namespace npuscope::ggml
