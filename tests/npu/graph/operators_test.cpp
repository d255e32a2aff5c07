// The table of known operators itself.
#include "npu/graph/operators.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace npuscope::npu::operators_test {
namespace {

TEST(Operators, AreEachInOneFamilyOnce) {
  std::set<std::string_view> names;
  for (const auto family : {attention_operators(), convolution_operators(), elementwise_operators(),
                            generator_operators(), indexing_operators(), layout_operators(),
                            matmul_operators(), movement_operators(), normalization_operators(),
                            pooling_operators(), quantization_operators(), recurrent_operators(),
                            reduction_operators(), resize_operators()}) {
    EXPECT_TRUE(std::is_sorted(family.begin(), family.end(),
                               [](const auto& a, const auto& b) { return a.name < b.name; }));
    for (const Operator& row : family) {
      EXPECT_TRUE(names.insert(row.name).second) << row.name;
      const std::size_t dot = row.name.rfind('.');
      const bool standard = dot == std::string_view::npos;
      EXPECT_EQ(find_operator(standard ? "" : row.name.substr(0, dot),
                              standard ? row.name : row.name.substr(dot + 1)),
                &row);
    }
  }
  EXPECT_GE(names.size(), 200U);
}

TEST(Operators, BelongToTheirDomainAlone) {
  EXPECT_NE(find_operator("", "Conv"), nullptr);
  EXPECT_NE(find_operator("com.microsoft", "FastGelu"), nullptr);
  EXPECT_EQ(find_operator("", "FastGelu"), nullptr);
  EXPECT_EQ(find_operator("", "com.microsoft.FastGelu"), nullptr);
  EXPECT_EQ(find_operator("org.example", "Conv"), nullptr);
}

}  // namespace
}  // namespace npuscope::npu::operators_test
