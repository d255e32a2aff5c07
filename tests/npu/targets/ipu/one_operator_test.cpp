// A single operator of any types, ranks and attributes: an error or a program, never a crash.
#include <gtest/gtest.h>

#include <algorithm>

#include "npu/graph/one_operator_models.hpp"
#include "npu/targets/ipu/ipu_fixture.hpp"
#include "sanitized.hpp"

namespace npuscope::npu::ipu::one_operator_test {
namespace {

bool is_of_usual_size(const Graph& graph) {
  constexpr std::uint64_t limit_bytes = std::uint64_t{1} << 28;
  return std::all_of(graph.tensors.begin(), graph.tensors.end(),
                     [](const Tensor& tensor) { return tensor.bytes() < limit_bytes; });
}

TEST(OneOperator, OfAnyTypesRanksAndAttributesCompilesOrIsRefused) {
  test::OneOperatorModels models(22);
  for (const Operator& op : every_operator()) {
    for (std::uint64_t round = 0; round < test_support::rounds(60); ++round) {
      const std::string model = models.next(op.name);
      const auto graph = import_onnx(as_byte_span(model), "one.onnx",
                                     {.symbols = {}, .allow_unknown = false, .batch = 1});
      if (!graph || !is_of_usual_size(*graph)) continue;
      const auto compiled = compile(*graph, muffin(), {});
      if (!compiled) {
        ASSERT_FALSE(compiled.error().message.empty()) << op.name;
      }
    }
  }
}

}  // namespace
}  // namespace npuscope::npu::ipu::one_operator_test
