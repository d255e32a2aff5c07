#include "npu/graph/operators.hpp"

#include <string>
#include <unordered_map>

namespace npuscope::npu {
namespace {

using Table = std::unordered_map<std::string_view, const Operator*>;

Table make_table() {
  Table table;
  for (const auto family : {attention_operators(), convolution_operators(), elementwise_operators(),
                            generator_operators(), indexing_operators(), layout_operators(),
                            matmul_operators(), movement_operators(), normalization_operators(),
                            pooling_operators(), quantization_operators(), recurrent_operators(),
                            reduction_operators(), resize_operators()}) {
    for (const Operator& row : family) table.emplace(row.name, &row);
  }
  return table;
}

}  // namespace

const Operator* find_operator(std::string_view domain, std::string_view op) {
  static const Table table = make_table();
  if (domain.empty()) {
    // A dot would reach into another domain's rows.
    if (op.find('.') != std::string_view::npos) return nullptr;
    const auto found = table.find(op);
    return found == table.end() ? nullptr : found->second;
  }
  const auto found = table.find(std::string(domain) + '.' + std::string(op));
  return found == table.end() ? nullptr : found->second;
}

void infer_same(Operation& op) { op.set(0, op.type(0), op.shape(0)); }

}  // namespace npuscope::npu
