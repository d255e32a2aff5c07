#include "report/document/text_table.hpp"

#include <gtest/gtest.h>

namespace npuscope::report::ascii_marks_test {
namespace {

TEST(AsciiMarks, KeepTheirWidthAndLeaveNamesAlone) {
  EXPECT_EQ(ascii_marks("op…1 ▁▂▃▄▅▆▇█|"), "op~1 .:-=+*#@|");
  EXPECT_EQ(ascii_marks("Größe \xE2\x96 \xE2"), "Größe \xE2\x96 \xE2");
  EXPECT_EQ(ascii_marks(""), "");
}

}  // namespace
}  // namespace npuscope::report::ascii_marks_test
