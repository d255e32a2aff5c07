#include "formats/ggml/operation.hpp"

#include <algorithm>
#include <map>

namespace npuscope::ggml {
namespace {

// Beyond, a forgery.
constexpr double max_work = 1e18, max_rows = 1e12;

bool is_cache(const Tensor& tensor) { return tensor.name.starts_with("cache_"); }

double rows_of(const Extents& extents) {
  return double(extents[1]) * double(extents[2]) * double(extents[3]);
}
double elements_of(const Extents& extents) { return double(extents[0]) * rows_of(extents); }

bool does(const Operation& operation, std::string_view op) {
  return operation.op.find(op) != operation.op.npos;
}

// The inputs that are weights of a product, and the first that is not.
struct ProductInputs {
  std::vector<const Tensor*> weights;
  const Tensor* activation = nullptr;
};

ProductInputs product_inputs(const Operation& operation) {
  ProductInputs found;
  const auto& inputs = operation.inputs;
  if (inputs.size() < 2) return found;
  const bool is_named = std::ranges::any_of(inputs, is_weight);
  const bool all_first = does(operation, "_NX"), is_fused = does(operation, "MUL_MAT+MUL_MAT");
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

void find_product(Operation& operation) {
  const ProductInputs product = product_inputs(operation);
  if (product.weights.empty() || product.activation == nullptr || operation.outputs.empty()) return;
  const bool by_experts = does(operation, "MUL_MAT_ID");
  const Extents& result = operation.outputs.front().extents;
  const double rows =
      by_experts ? double(result[1]) * double(result[2]) : rows_of(product.activation->extents);
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
    if (!bits) continue;
    if (is_weight(*weights)) operation.weight_bytes += of_one * matrices * *bits / 8;
    if (is_cache(*weights)) operation.cache_bytes += of_one * matrices * *bits / 8;
  }
  if (!knows_bytes) operation.weight_bytes = operation.cache_bytes = 0;
  if (std::ranges::none_of(product.weights, [](const Tensor* each) { return is_weight(*each); })) {
    operation.is_at_most =
        std::ranges::any_of(product.weights, [](const Tensor* each) { return is_cache(*each); });
    return;
  }
  operation.tokens = std::int64_t(by_experts ? result[2] : std::int64_t(rows));
}

// Q is depth x rows x heads x sequences, K and V depth x length x heads that share them x
// sequences.
void find_attention(Operation& operation) {
  if (operation.inputs.size() < 3) return;
  const Extents& q = operation.inputs[0].extents;
  const Tensor &k = operation.inputs[1], &v = operation.inputs[2];
  if (q[0] != k.extents[0] || k.extents[1] != v.extents[1]) return;
  operation.macs =
      rows_of(q) * double(k.extents[1]) * (double(k.extents[0]) + double(v.extents[0]));
  operation.is_at_most = true;
  const auto k_bits = bits_of_weight(k.type), v_bits = bits_of_weight(v.type);
  if (!k_bits || !v_bits) return;
  operation.cache_bytes = (elements_of(k.extents) * *k_bits + elements_of(v.extents) * *v_bits) / 8;
}

// The state, depth of K x depth of V of each head, is decayed and read, changed and read again.
void find_delta_net(Operation& operation) {
  if (operation.inputs.size() < 3) return;
  const Extents& v = operation.inputs[2].extents;
  operation.macs = 3 * double(operation.inputs[1].extents[0]) * elements_of(v);
}

void find_convolution(Operation& operation) {
  if (operation.inputs.size() < 2 || operation.outputs.empty()) return;
  operation.macs =
      double(operation.inputs[1].extents[0]) * elements_of(operation.outputs.front().extents);
}

}  // namespace

bool is_weight(const Tensor& tensor) { return tensor.name.find(".weight") != tensor.name.npos; }

void find_work(Operation& operation) {
  if (does(operation, "MUL_MAT")) {
    find_product(operation);
  } else if (does(operation, "FLASH_ATTN_EXT")) {
    find_attention(operation);
  } else if (does(operation, "GATED_DELTA_NET")) {
    find_delta_net(operation);
  } else if (does(operation, "SSM_CONV")) {
    find_convolution(operation);
  }
  if (operation.macs < max_work && operation.read_bytes() < max_work) return;
  operation.macs = operation.weight_bytes = operation.cache_bytes = 0;
}

std::optional<double> bits_of_weight(std::string_view type) {
  static const std::map<std::string_view, double> bits{
      {"q4_0", 4.5},   {"q4_1", 5},    {"q8_0", 8.5}, {"iq4_nl", 4.5}, {"mxfp4", 4.25},
      {"q2_K", 2.625}, {"q3_K", 4},    {"q4_K", 5},   {"q5_K", 6},     {"q6_K", 7},
      {"q1_0", 1.125}, {"q2_0", 2.25}, {"f16", 16},   {"bf16", 16},    {"f32", 32}};
  const auto found = bits.find(type);
  return found == bits.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace npuscope::ggml
