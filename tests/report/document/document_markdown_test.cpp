#include "report/document/document.hpp"

#include <gtest/gtest.h>

namespace npuscope::report::document_markdown_test {
namespace {

TEST(DocumentMarkdown, LetsNoNameBecomeMarkup) {
  Document document;
  document.sections = {Section{.key = "t", .title = "A <b> title"}};
  document.sections[0].table.fields = {{"name", "name"}, {"n", "n", Format::count}};
  document.sections[0].table.rows = {{"a|b [x](y) *z*", 3}};
  EXPECT_EQ(
      document_markdown(document, "T"),
      "# T\n\n## A \\<b\\> title\n\n| name | n |\n|---|---:|\n| a\\|b \\[x\\](y) \\*z\\* | 3 |\n");
}

}  // namespace
}  // namespace npuscope::report::document_markdown_test
