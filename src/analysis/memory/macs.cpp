#include "npuscope/analysis/macs.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "base/counting_sort.hpp"

namespace npuscope::analysis {

namespace {

using Extents = std::span<const std::int64_t>;  // of a shape

double elements_of(Extents dimensions) {
  double elements = 1;
  for (const std::int64_t dimension : dimensions) elements *= double(dimension);
  return elements;
}

// Products of so many elements are exact in a double as long as this holds; beyond, a forgery.
constexpr double max = 1e18;

std::optional<double> whole_macs(double macs, double output_elements) {
  if (!(macs > 0) || macs > max || !(output_elements > 0)) return std::nullopt;
  const double depth = macs / output_elements;
  if (depth != std::floor(depth)) return std::nullopt;
  return macs;
}

// Each element of the output costs as many MACs as the weights have elements for one channel. The
// output's shape may be that of a tile, flattened, so the length of the bias tells the channels
// best.
std::optional<double> with_weights(Extents output, Extents weights, double bias) {
  // Shapes of rank 2 may be filled up with ones in front.
  const auto first =
      std::find_if(weights.begin(), weights.end() - 1, [](std::int64_t size) { return size > 1; });
  const auto is_channels = [&](double count) {
    return count > 0 && (count == double(*first) || count == double(weights.back()));
  };
  double channels = 0;
  const bool channels_first = weights.size() == 4 && output.size() == 4 &&
                              weights.front() == output[1] && weights.front() > 1;
  if (is_channels(bias)) {
    channels = bias;
  } else if (is_channels(double(output.back()))) {
    channels = double(output.back());
  } else if (channels_first) {
    channels = double(output[1]);
  }
  if (channels == 0) return std::nullopt;
  const double elements = elements_of(output);
  return whole_macs(elements * elements_of(weights) / channels, elements);
}

// Rows of the first input are those of the output.
std::optional<double> of_activations(Extents output, Extents first) {
  const double elements = elements_of(output), depth = double(first.back());
  if (elements_of(first) / depth != elements / double(output.back())) return std::nullopt;
  return whole_macs(elements * depth, elements);
}

// The tensors around each op, and what moves a constant to where an op reads it.
class Operands {
 public:
  explicit Operands(const Profile& profile)
      : profile_(profile),
        uses_(profile.tensor_uses.size(), profile.ops.size(), [&](std::size_t use) {
          const std::uint32_t op = index_of(profile.tensor_uses[use].consumer);
          return op < profile.ops.size() ? op : counting_sort_leaves_out;
        }) {}

  struct Weights {
    Extents dimensions;  // of the largest constant; empty: there is none
    double bias = 0;     // elements of the largest of the others
  };

  // Of the inputs that are constants, or brought by transfers from them.
  Weights weights_of(std::size_t op) const {
    Weights weights;
    double max_elements = 0;
    for (const std::uint32_t use : uses_.of(op)) {
      const Tensor* constant = constant_behind(input(use));
      const Extents dimensions = constant ? profile_.shapes[constant->extents] : Extents();
      if (dimensions.empty()) continue;
      const double elements = elements_of(dimensions);
      if (elements <= max_elements) {
        weights.bias = std::max(weights.bias, elements);
        continue;
      }
      weights.bias = max_elements;
      max_elements = elements;
      weights.dimensions = dimensions;
    }
    return weights;
  }

  const Tensor* first_activation_of(std::size_t op) const {
    for (const std::uint32_t use : uses_.of(op)) {
      const Tensor* tensor = tensor_at(input(use));
      if (tensor != nullptr && constant_behind(input(use)) == nullptr) return tensor;
    }
    return nullptr;
  }

 private:
  std::uint32_t input(std::uint32_t use) const { return profile_.tensor_uses[use].tensor; }
  const Tensor* tensor_at(std::uint32_t tensor) const {
    return tensor < profile_.tensors.size() ? &profile_.tensors[tensor] : nullptr;
  }

  const Tensor* constant_behind(std::uint32_t tensor) const {
    constexpr int deepest = 4;  // transfers one after the other; forged ones may form a ring
    const Tensor* at = tensor_at(tensor);
    for (int depth = 0; depth < deepest && at != nullptr; ++depth) {
      if (at->is_constant) return at;
      const std::size_t op = index_of(at->producer);
      if (op >= profile_.ops.size() || profile_.ops[op].engine != Engine::dma) return nullptr;
      at = uses_.of(op).empty() ? nullptr : tensor_at(input(uses_.of(op).front()));
    }
    return nullptr;
  }

  const Profile& profile_;
  Grouped<> uses_;  // by op
};

bool is_matrix_product(std::string_view node_kind) {
  return node_kind.find("MatMul") != node_kind.npos || node_kind == "FullyConnected";
}

// What a task of a matrix product works on.
struct ProductOperands {
  Extents output;
  std::vector<Extents> inputs;  // activation, weights, biases
  double output_bytes = 0;
};

std::optional<ProductOperands> product_operands(const Profile& profile, OperandsId list) {
  ProductOperands operands;
  for (const Operand& operand : profile.operand_lists[list]) {
    const Extents dimensions = profile.shapes[operand.shape];
    if (!operand.is_output) {
      operands.inputs.push_back(dimensions);
      continue;
    }
    if (operands.output.empty()) operands.output = dimensions;
    operands.output_bytes += std::ceil(elements_of(dimensions) * (operand.bits / 8.0));
  }
  if (operands.output.empty() || operands.inputs.size() < 2) return std::nullopt;
  return operands;
}

// Rows x depth times depth x columns, on either side transposed, or with the weights' columns
// packed several to an element. Anything larger than a bias beside them means another operator.
std::optional<double> of_matrices(const ProductOperands& product) {
  const auto &output = product.output, &left = product.inputs[0], &right = product.inputs[1];
  const double columns = double(output.back()), elements = elements_of(output);
  const double widest = double(*std::max_element(output.begin(), output.end()));
  for (std::size_t i = 2; i < product.inputs.size(); ++i) {
    if (elements_of(product.inputs[i]) > widest) return std::nullopt;
  }
  if (right.size() < 2) return std::nullopt;
  const double last = double(right.back()), before = double(right[right.size() - 2]);
  const auto with_depth = [&](double depth) -> std::optional<double> {
    const double rows = elements_of(left) / depth;
    const bool fits = (before == depth && last == columns) || (before == columns && last == depth);
    const double packed = elements_of(right) / double(right.front());
    const bool packs = double(right.front()) == columns && right.size() == 3 &&
                       std::fmod(depth, packed) == 0 && depth / packed <= 8;
    const bool whole_rows = rows > 0 && std::fmod(elements / columns, rows) == 0;
    if (!whole_rows || !(fits || packs)) return std::nullopt;
    return whole_macs(elements * depth, elements);
  };
  if (const auto macs = with_depth(double(left.back()))) return macs;
  const bool turned = left.size() >= 2;
  return turned ? with_depth(double(left[left.size() - 2])) : std::nullopt;
}

// Each element of the output costs as many MACs as the weights have elements for one channel; of a
// transposed convolution each element of the input.
std::optional<double> of_convolution(const ProductOperands& product, bool transposed) {
  const auto &output = product.output, &input = product.inputs[0], &weights = product.inputs[1];
  if (weights.size() < 3) return std::nullopt;
  const double channels = double(weights.front());
  const auto& side = transposed ? input : output;
  if (side.size() < 3 || double(side[1]) != channels) return std::nullopt;
  const double elements = elements_of(side);
  return whole_macs(elements * elements_of(weights) / channels, elements);
}

struct OperandMacs {
  double macs = 0;
  double output_bytes = 0;
};

std::optional<OperandMacs> macs_of_operands(const Profile& profile, OperandsId list,
                                            ProductKind kind) {
  const auto product = product_operands(profile, list);
  if (!product) return std::nullopt;
  std::optional<double> macs;
  if (kind != ProductKind::matrices) {
    macs = of_convolution(*product, kind == ProductKind::transposed_convolution);
  }
  if (!macs) macs = of_matrices(*product);
  if (!macs) return std::nullopt;
  return OperandMacs{*macs, product->output_bytes};
}

}  // namespace

OpMacs::OpMacs(const Profile& profile) : profile_(profile), of_op_(profile.ops.size(), -1) {
  take_measures();
  if (!any_) take_tensors();
  if (!any_) take_operands();
  // Parts of windows have no MACs of their own: those are the window's.
  if (profile.spans.measure(NumberRole::op_window) != nullptr) return;
  for (std::size_t op = 0; op < of_op_.size(); ++op) {
    const Op& matrix = profile.ops[op];
    const bool is_product = matrix.engine == Engine::hmx || matrix.product != ProductKind::none;
    unknown_ += is_product && of_op_[op] < 0;
  }
}

void OpMacs::take_measures() {
  for (const Measure& measure : profile_.measures) {
    if (measure.subject != Measure::Subject::op || measure.subject_id >= of_op_.size()) continue;
    if (measure.meaning.quantity != NumberQuantity::macs) continue;
    if (!(measure.value >= 0) || measure.value > max) continue;
    of_op_[measure.subject_id] = measure.value;
    if (!any_ || measure.origin == Origin::estimated) origin_ = measure.origin;
    any_ = true;
  }
}

void OpMacs::take_tensors() {
  if (profile_.tensor_uses.empty()) return;
  const Operands operands(profile_);
  for (std::size_t op = 0; op < of_op_.size(); ++op) {
    const Op& matrix = profile_.ops[op];
    if (matrix.engine != Engine::hmx) continue;
    const Extents output = profile_.shapes[matrix.extents];
    if (output.empty()) continue;
    std::optional<double> macs;
    const Operands::Weights weights = operands.weights_of(op);
    const bool product = is_matrix_product(profile_.text(matrix.node_kind));
    const Tensor* first = product ? operands.first_activation_of(op) : nullptr;
    if (!weights.dimensions.empty()) {
      macs = with_weights(output, weights.dimensions, weights.bias);
    }
    if (!macs && first != nullptr) {
      const Extents shape = profile_.shapes[first->extents];
      if (!shape.empty()) macs = of_activations(output, shape);
    }
    if (!macs) continue;
    of_op_[op] = *macs;
    any_ = true;
  }
}

// Operands are those of the op itself; of other tools' traces they may be those of the whole
// operator that it is a tile of: its share is that of the output then.
void OpMacs::take_operands() {
  std::map<std::pair<OperandsId, ProductKind>, std::optional<OperandMacs>> known;
  for (std::size_t op = 0; op < of_op_.size(); ++op) {
    const Op& matrix = profile_.ops[op];
    if (matrix.product == ProductKind::none || matrix.operand_list == OperandsId::none) continue;
    const auto [found, added] = known.try_emplace({matrix.operand_list, matrix.product});
    if (added) found->second = macs_of_operands(profile_, matrix.operand_list, matrix.product);
    const double output = double(matrix.output.value);
    if (!found->second || !(output > 0)) continue;
    of_op_[op] = found->second->macs * (output / found->second->output_bytes);
    any_ = true;
  }
}

}  // namespace npuscope::analysis
