// Mixtures of experts, as they are written without an operator of their own: the tokens of each
// expert gathered, its layers, and what they make weighted and summed token by token.
//
//   MoE of 8 tokens, 2 of 4 experts  ->  Softmax, TopK, 4 x (Gather, MatMul, ..., MatMul), Concat,
//                                        Gather, Mul, ReduceSum
//
// Which token takes which expert is known when the model runs: tokens are spread evenly over as
// many experts as they can reach.
#include "npu/graph/limits.hpp"
#include "npu/graph/operation.hpp"
#include "npu/graph/operators/experts.hpp"
#include "npu/graph/parts/parts.hpp"

namespace npuscope::npu {
namespace {

class ExpertParts {
 public:
  ExpertParts(Parts& parts, const Node& node)
      : parts_(parts), node_(node), sizes_(expert_sizes(parts.graph(), node)) {
    if (sizes_.used_experts() > limits::experts) fail("it has too many experts");
    for (std::size_t layer = 0; layer < 3; ++layer) {
      const TensorId weights = input_of(node_, expert_inputs(node_, layer).weights);
      if (weights != TensorId::none && !parts_[weights].constant) fail("its weights are inputs");
    }
  }

  void make() {
    const std::int64_t rows = sizes_.routed_rows(), many = sizes_.used_experts();
    const TensorId x = parts_.reshape("tokens", node_.inputs[0], {sizes_.tokens, sizes_.hidden});
    const auto [share, chosen] = route();
    // One token goes to all of its experts as it is.
    const bool is_gathered = sizes_.tokens > 1;
    const TensorId order = is_gathered ? parts_.reshape("order", chosen, {rows}) : TensorId::none;
    std::vector<TensorId> made;
    std::int64_t begin = 0;
    for (std::int64_t expert = 0; expert < many; ++expert) {
      prefix_ = "expert_" + std::to_string(expert) + "/";
      const std::int64_t end = begin + rows / many + (expert < rows % many ? 1 : 0);
      TensorId own = x;
      if (is_gathered) {
        own = parts_.add(prefix_ + "tokens", "Gather",
                         {x, parts_.add(prefix_ + "order", "Slice",
                                        {order, parts_.integers({begin}), parts_.integers({end}),
                                         parts_.integers({0})})});
      }
      made.push_back(layers(own));
      begin = end;
    }
    TensorId all = made[0];
    if (many > 1) all = parts_.add("results", "Concat", made, {{"axis", std::int64_t{0}}});
    if (is_gathered) all = parts_.add("in_order", "Gather", {all, order});
    all =
        parts_.reshape("of_tokens", all, {sizes_.tokens, sizes_.experts_per_token, sizes_.hidden});
    all = parts_.add("weighted", "Mul", {all, share});
    all = parts_.add("sum", "ReduceSum", {all, parts_.integers({1})},
                     {{"keepdims", std::int64_t{0}}});
    const TensorId result = output_of(node_, 0);
    if (result != TensorId::none) parts_.reshape("result", all, parts_.shape(result), result);
  }

 private:
  // The share of each chosen expert in its token [tokens, k, 1], and which they are.
  std::pair<TensorId, TensorId> route() {
    const TensorId probabilities = parts_.add("probabilities", "Softmax", {node_.inputs[1]});
    const auto best = parts_.add_outputs(
        "chosen", "TopK", {probabilities, parts_.integers({sizes_.experts_per_token})}, 2);
    TensorId share = best[0];
    if (node_.int_attribute("normalize_routing_weights", 0) != 0) {
      const TensorId sum = parts_.add("shares_sum", "ReduceSum", {share, parts_.integers({1})});
      share = parts_.add("shares", "Div", {share, sum});
    }
    share = parts_.reshape("shares_of_tokens", share, {sizes_.tokens, sizes_.experts_per_token, 1});
    return {share, best[1]};
  }

  TensorId layers(TensorId x) {
    TensorId inner = layer(0, "fc1", x, sizes_.hidden, sizes_.first_columns);
    if (sizes_.first_columns == 2 * sizes_.inner) {
      const auto halves = parts_.split(prefix_ + "halves", inner, 1, {sizes_.inner, sizes_.inner});
      inner = multiplied(activated(halves[0]), halves[1]);
    } else {
      inner = activated(inner);
    }
    if (sizes_.gate_columns > 0)
      inner = multiplied(inner, layer(2, "fc3", x, sizes_.hidden, sizes_.gate_columns));
    return layer(1, "fc2", inner, sizes_.inner, sizes_.hidden);
  }

  TensorId multiplied(TensorId a, TensorId b) {
    return parts_.add(prefix_ + "gated", "Mul", {a, b});
  }

  TensorId activated(TensorId x) {
    const std::string function = node_.string_attribute("activation_type", "relu");
    if (function == "identity") return x;
    if (function == "relu" || function == "gelu")
      return parts_.add(prefix_ + "activation", function == "relu" ? "Relu" : "Gelu", {x});
    if (function != "silu" && function != "swiglu")
      fail("its activation_type '{}' is not known", function);
    return multiplied(x, parts_.add(prefix_ + "activation", "Sigmoid", {x}));
  }

  TensorId layer(std::size_t which, const std::string& name, TensorId x, std::int64_t depth,
                 std::int64_t columns) {
    const ExpertInputs inputs = expert_inputs(node_, which);
    const bool has_bias = input_of(node_, inputs.bias) != TensorId::none;
    const TensorId product =
        sizes_.bits > 0 ? packed(inputs, name, x, depth, columns)
                        : parts_.add(prefix_ + name, "MatMul",
                                     {x, own(inputs.weights, name + "_weights", {depth, columns})});
    if (!has_bias) return product;
    return parts_.add(prefix_ + name + "_bias", "Add",
                      {product, own(inputs.bias, name + "_bias", {columns})});
  }

  TensorId packed(const ExpertInputs& inputs, const std::string& name, TensorId x,
                  std::int64_t depth, std::int64_t columns) {
    const std::int64_t block = sizes_.block > 0 ? std::min(sizes_.block, depth) : depth;
    const std::int64_t blocks = depth / block + (depth % block != 0 ? 1 : 0);
    return parts_.add(
        prefix_ + name, "com.microsoft.MatMulNBits",
        {x, own(inputs.weights, name + "_weights", {columns, multiply(depth, sizes_.bits) / 8}),
         own(inputs.scales, name + "_scales", {columns, blocks})},
        {{"K", depth}, {"N", columns}, {"bits", sizes_.bits}, {"block_size", block}});
  }

  // This expert's, of the input that holds those of all.
  TensorId own(std::size_t input, const std::string& name, const Shape& shape) {
    return parts_.constant(node_.name + "/" + prefix_ + name, parts_[input_of(node_, input)].type,
                           shape);
  }

  Parts& parts_;
  const Node& node_;
  ExpertSizes sizes_;
  std::string prefix_;
};

}  // namespace

void make_experts(Parts& parts, const Node& node) { ExpertParts(parts, node).make(); }

}  // namespace npuscope::npu
