#include "npu/graph/operators/attention.hpp"
#include "npu/graph/operators/experts.hpp"
#include "npu/graph/operators/state_space.hpp"

#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "npu/graph/limits.hpp"
#include "npu/graph/operation.hpp"
#include "npu/graph/semantics.hpp"

namespace npuscope::npu {
namespace {

constexpr std::size_t ellipsis_limit = 10;  // its dimensions are named by the digits

// "...ij" with an ellipsis of two dimensions is "01ij" (counted from the end: broadcasting).
std::string write_out(std::string_view term, std::size_t ellipsis_rank, std::size_t widest) {
  std::string letters;
  const std::size_t dots = term.find("...");
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (i == dots) {
      for (std::size_t d = widest - ellipsis_rank; d < widest; ++d) letters += char('0' + d);
      i += 2;
    } else if (is_letter(term[i])) {
      letters += term[i];
    } else {
      fail("its equation has the character '{}'", term[i]);
    }
  }
  return letters;
}

std::size_t letters_in(std::string_view term) {
  return std::size_t(std::ranges::count_if(term, is_letter));
}

std::vector<std::string> split_terms(const std::string& left) {
  std::vector<std::string> terms(1);
  for (const char c : left) {
    if (c == ',') {
      terms.emplace_back();
    } else {
      terms.back() += c;
    }
  }
  return terms;
}

// Without "->": the letters that occur once, in alphabetical order, after the ellipsis.
std::string implied_output(const Einsum& einsum) {
  std::map<char, int> uses;
  for (const std::string& operand : einsum.operands) {
    for (const char letter : operand) ++uses[letter];
  }
  std::string output;
  for (const auto& [letter, count] : uses)
    if (count == 1 || !is_letter(letter)) output += letter;
  return output;
}

}  // namespace

Einsum parse_einsum(std::string_view equation, const std::vector<Shape>& shapes) {
  std::string text(equation);
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  const auto terms = split_terms(text.substr(0, arrow));
  if (terms.size() != shapes.size()) {
    fail("its equation '{}' is for {} inputs, not {}", equation, terms.size(), shapes.size());
  }
  std::size_t widest = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const bool open = terms[i].find("...") != std::string::npos;
    const std::size_t letters = letters_in(terms[i]), rank = shapes[i].size();
    if (open ? rank < letters || rank - letters > ellipsis_limit : rank != letters) {
      fail("its equation '{}' does not fit the input {}", equation, to_text(shapes[i]));
    }
    widest = std::max(widest, rank - letters);
  }
  Einsum einsum;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    einsum.operands.push_back(write_out(terms[i], shapes[i].size() - letters_in(terms[i]), widest));
    for (std::size_t d = 0; d < shapes[i].size(); ++d) {
      const auto [found, fresh] = einsum.sizes.emplace(einsum.operands[i][d], shapes[i][d]);
      if (fresh || found->second == shapes[i][d] || shapes[i][d] == 1) continue;
      if (found->second != 1) {
        fail("its equation '{}' gives '{}' the sizes {} and {}", equation, found->first,
             found->second, shapes[i][d]);
      }
      found->second = shapes[i][d];
    }
  }
  einsum.output = arrow == std::string::npos ? implied_output(einsum)
                                             : write_out(text.substr(arrow + 2), widest, widest);
  for (const char letter : einsum.output) {
    if (!einsum.sizes.contains(letter))
      fail("its equation '{}' makes '{}' from nothing", equation, letter);
  }
  return einsum;
}

namespace {

std::uint64_t count(const Shape& shape, std::size_t begin, std::size_t end) {
  std::uint64_t elements = 1;
  for (std::size_t i = begin; i < end; ++i) {
    elements = saturating_product({elements, std::uint64_t(shape[i])});
  }
  return elements;
}

const Tensor& input(const Graph& graph, const Node& node, std::size_t i) {
  if (!node.has_input(i)) fail("it lacks its input {}", i);
  return graph[node.inputs[i]];
}

Shape as_matrix(Shape shape, bool transposed, bool right) {
  if (shape.size() == 1) shape.insert(right ? shape.end() : shape.begin(), 1);
  if (shape.size() < 2) fail("a matrix product needs dimensions");
  if (transposed) std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  return shape;
}

// Leading dimensions are independent products, unless all share the right side: then they are
// more rows of one product.
MatrixProduct matrices(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b) {
  const Shape left = as_matrix(a.shape, transpose_a, false);
  const Shape right = as_matrix(b.shape, transpose_b, true);
  const std::size_t left_lead = left.size() - 2;
  const std::uint64_t left_batch = count(left, 0, left_lead);
  const std::uint64_t right_batch = count(right, 0, right.size() - 2);
  MatrixProduct product;
  product.rows = std::uint64_t(left[left_lead]);
  product.depth = std::uint64_t(left.back());
  product.columns = std::uint64_t(right.back());
  product.constant_weights = b.constant;
  if (right_batch == 1) {
    product.rows = saturating_product({left_batch, product.rows});
  } else {
    const Shape batch = broadcast({left.begin(), left.end() - 2}, {right.begin(), right.end() - 2});
    product.batch = count(batch, 0, batch.size());
  }
  return product;
}

MatrixProduct gemm(const Graph& graph, const Node& node, std::size_t right) {
  Tensor a;
  a.constant = input(graph, node, 0).constant;
  const Shape& shape = input(graph, node, 0).shape;
  a.shape = {shape.at(0), std::int64_t(count(shape, 1, shape.size()))};
  return matrices(a, input(graph, node, right), node.int_attribute("transA", 0) != 0,
                  node.int_attribute("transB", 0) != 0);
}

MatrixProduct packed_matmul(const Graph& graph, const Node& node) {
  const Shape& x = input(graph, node, 0).shape;
  if (x.empty()) fail("a matrix product needs dimensions");
  MatrixProduct product;
  product.rows = count(x, 0, x.size() - 1);
  product.depth = std::uint64_t(node.int_attribute("K", 0));
  product.columns = std::uint64_t(node.int_attribute("N", 0));
  product.constant_weights = input(graph, node, 1).constant;
  return product;
}

MatrixProduct convolution(const Graph& graph, const Node& node, std::size_t weights) {
  const Tensor& w = input(graph, node, weights);
  const Shape& out = graph[node.outputs.at(0)].shape;
  const auto group = std::uint64_t(std::max<std::int64_t>(1, node.int_attribute("group", 1)));
  MatrixProduct product;
  product.batch = group;
  product.rows = saturating_product({std::uint64_t(out[0]), count(out, 2, out.size())});
  product.kernel_area = count(w.shape, 2, w.shape.size());
  product.depth = saturating_product({std::uint64_t(w.shape[1]), product.kernel_area});
  product.columns = std::uint64_t(w.shape[0]) / group;
  product.constant_weights = w.constant;
  return product;
}

// Every input pixel is multiplied into kernel_area pixels of each output channel.
MatrixProduct transposed_convolution(const Graph& graph, const Node& node) {
  const Shape& x = input(graph, node, 0).shape;
  const Tensor& w = input(graph, node, 1);
  MatrixProduct product;
  product.batch = std::uint64_t(std::max<std::int64_t>(1, node.int_attribute("group", 1)));
  product.rows = saturating_product({std::uint64_t(x[0]), count(x, 2, x.size())});
  product.depth = std::uint64_t(x[1]) / product.batch;
  product.columns = count(w.shape, 1, w.shape.size());
  product.constant_weights = w.constant;
  return product;
}

// Each step multiplies the input and the previous state with the weights of all gates.
MatrixProduct recurrent(const Graph& graph, const Node& node) {
  const Shape& x = input(graph, node, 0).shape;
  const Tensor &w = input(graph, node, 1), &r = input(graph, node, 2);
  const bool turned = node.op == "DynamicQuantizeLSTM";  // [D, I, gates * H]
  const std::size_t depth = turned ? 1 : 2;
  MatrixProduct product;
  product.batch = std::uint64_t(w.shape.at(0));
  product.rows = count(x, 0, 2);
  product.depth = std::uint64_t(w.shape.at(depth)) + std::uint64_t(r.shape.at(depth));
  product.columns = std::uint64_t(w.shape.at(turned ? 2 : 1));
  product.constant_weights = w.constant && r.constant;
  return product;
}

// Scores take head_size multiplications each, and weighting the values value_head_size more. A
// projection in front adds, for every query, depth times the widths of query, key and value;
// spread over the output's columns where it divides, else over one.
MatrixProduct attention(const Graph& graph, const Node& node) {
  const AttentionSizes sizes = attention_sizes(graph, node);
  const auto unsigned_of = [](std::int64_t value) { return std::uint64_t(value); };
  MatrixProduct product;
  const std::uint64_t both = unsigned_of(sizes.head_size) + unsigned_of(sizes.value_head_size);
  if (sizes.projection_depth == 0) {
    product.batch = saturating_product({unsigned_of(sizes.batch), unsigned_of(sizes.heads)});
    product.rows = unsigned_of(sizes.queries);
    product.depth = both;
    product.columns = unsigned_of(sizes.keys);
    return product;
  }
  const Tensor& weights = input(graph, node, 1);
  const std::uint64_t hidden =
      saturating_product({unsigned_of(sizes.heads), unsigned_of(sizes.value_head_size)});
  const std::uint64_t projection =
      saturating_product({unsigned_of(sizes.projection_depth), unsigned_of(weights.shape.back())});
  const std::uint64_t scores =
      saturating_product({unsigned_of(sizes.heads), unsigned_of(sizes.keys), both});
  const std::uint64_t per_query = projection > std::numeric_limits<std::uint64_t>::max() - scores
                                      ? std::numeric_limits<std::uint64_t>::max()
                                      : projection + scores;
  product.rows = saturating_product({unsigned_of(sizes.batch), unsigned_of(sizes.queries)});
  product.columns = hidden > 0 && per_query % hidden == 0 ? hidden : 1;
  product.depth = per_query / product.columns;
  product.constant_weights = weights.constant;
  return product;
}

Einsum einsum_of(const Graph& graph, const Node& node) {
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    shapes.push_back(input(graph, node, i).shape);
  return parse_einsum(node.string_attribute("equation", ""), shapes);
}

// Letters of the result that both sides have are batch, those of one side rows or columns, and
// letters that the result lacks are depth. With other than two operands, all results are rows.
MatrixProduct einsum(const Graph& graph, const Node& node) {
  const Einsum parsed = einsum_of(graph, node);
  MatrixProduct product;
  product.rows = product.depth = product.columns = 1;
  const bool two = parsed.operands.size() == 2;
  for (const auto& [letter, size] : parsed.sizes) {
    const auto in = [&](const std::string& letters) {
      return letters.find(letter) != std::string::npos;
    };
    std::uint64_t& factor = !in(parsed.output)        ? product.depth
                            : !two                    ? product.rows
                            : !in(parsed.operands[1]) ? product.rows
                            : !in(parsed.operands[0]) ? product.columns
                                                      : product.batch;
    factor = saturating_product({factor, std::uint64_t(size)});
  }
  product.constant_weights = two && input(graph, node, 1).constant;
  return product;
}

bool is_one_of(std::string_view op, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, op) != names.end();
}

MatrixProduct product_of(const Graph& graph, const Node& node) {
  const std::string_view op = node.op;
  if (is_attention(node)) return attention(graph, node);
  if (has_experts(node)) return expert_product(graph, node);
  if (op == "LinearAttention") return linear_attention_product(graph, node);
  if (op == "CausalConvWithState") return causal_convolution_product(graph, node);
  if (is_one_of(op, {"Conv", "ConvInteger", "DeformConv", "FusedConv"}))
    return convolution(graph, node, 1);
  if (op == "QLinearConv") return convolution(graph, node, 3);
  if (op == "ConvTranspose") return transposed_convolution(graph, node);
  if (is_one_of(op, {"Gemm", "FusedGemm"})) return gemm(graph, node, 1);
  if (op == "QGemm") return gemm(graph, node, 3);
  if (is_one_of(op, {"MatMulNBits", "MatMulBnb4", "MatMulFpQ4"})) return packed_matmul(graph, node);
  if (is_one_of(op, {"LSTM", "GRU", "RNN", "DynamicQuantizeLSTM"})) return recurrent(graph, node);
  if (op == "Einsum") return einsum(graph, node);
  const std::size_t right = op == "QLinearMatMul" ? 3 : 1;
  return matrices(input(graph, node, 0), input(graph, node, right),
                  node.int_attribute("transA", 0) != 0, node.int_attribute("transB", 0) != 0);
}

}  // namespace

std::uint64_t saturating_product(std::initializer_list<std::uint64_t> factors) {
  if (std::ranges::find(factors, 0U) != factors.end()) return 0;
  std::uint64_t product = 1;
  for (const std::uint64_t factor : factors) {
    if (__builtin_mul_overflow(product, factor, &product)) {
      return std::numeric_limits<std::uint64_t>::max();
    }
  }
  return product;
}

MatrixProduct find_product(const Graph& graph, const Node& node) {
  try {
    return product_of(graph, node);
  } catch (const OperatorFailure&) {
    return {};
  } catch (const std::out_of_range&) {
    return {};
  }
}

OpClass einsum_class(const Graph& graph, const Node& node) {
  try {
    const Einsum parsed = einsum_of(graph, node);
    if (parsed.operands.size() == 1) {
      if (parsed.operands[0] == parsed.output) return OpClass::view;
      return parsed.operands[0].size() == parsed.output.size() ? OpClass::transpose
                                                               : OpClass::reduction;
    }
    const MatrixProduct product = einsum(graph, node);
    const bool plain = product.depth == 1 && (product.rows == 1 || product.columns == 1);
    return plain && parsed.operands.size() == 2 ? OpClass::elementwise : OpClass::matmul;
  } catch (const OperatorFailure&) {
    return OpClass::elementwise;
  }
}

}  // namespace npuscope::npu
