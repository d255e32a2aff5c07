// The table of known operators itself.
#include "npu/graph/operators.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace npuscope::npu::operators_test {
namespace {

TEST(Operators, AreEachInOneFamilyOnce) {
  std::set<std::string_view> names;
  for (const Operator& each : every_operator()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    const std::size_t dot = each.name.rfind('.');
    const bool standard = dot == std::string_view::npos;
    EXPECT_EQ(find_operator(standard ? "" : each.name.substr(0, dot),
                            standard ? each.name : each.name.substr(dot + 1)),
              &each);
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
