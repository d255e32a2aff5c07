#include "report/document/text_table.hpp"

#include <gmock/gmock.h>

#include <random>
#include <set>

namespace npuscope::report::text_table_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TextTable, ElidedNamesLostWhatToldThemApart) {
  const std::string head = "model/encoder/block_with_a_long_name/layer.",
                    tail = "/attention/self/with_more/MatMul";
  const auto shown = shortened_apart({head + "7" + tail, head + "11" + tail, "Add"}, 30);
  EXPECT_EQ(shortened(head + "7" + tail, 20), shortened(head + "11" + tail, 20));
  EXPECT_THAT(shown, ElementsAre(HasSubstr("…7…"), HasSubstr("…11…"), "Add"));
  for (const std::string& name : shown) EXPECT_LE(columns_of(name), 30u);
}

TEST(TextTable, NamesThatAreShortenedApartAlreadyStay) {
  const std::vector<std::string> names{"alpha_beta_gamma_delta", "omega_beta_gamma_delta"};
  EXPECT_EQ(shortened_apart(names, 12)[0], shortened(names[0], 12));
}

// Any texts and width: as wide as asked for at most, short ones untouched, equal ones equal.
TEST(TextTable, ShortensAnyNames) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> names;
    for (unsigned i = 0; i < 6; ++i) {
      std::string name;
      for (unsigned n = random() % 14; n > 0; --n) {
        name += std::vector<std::string>{"a", "b", "é", "€", "layer"}[random() % 5];
      }
      names.push_back(name);
    }
    names.push_back(names.front());
    const std::size_t columns = random() % 20;
    const auto shown = shortened_apart(names, columns);
    for (std::size_t i = 0; i < names.size(); ++i) {
      EXPECT_LE(columns_of(shown[i]), columns) << names[i];
      if (columns_of(names[i]) <= columns) {
        EXPECT_EQ(shown[i], names[i]);
      }
    }
    EXPECT_EQ(shown.front(), shown.back());
  }
}

// A long text in any column made lines of thousands of columns.
TEST(TextTable, NoLineIsWiderThanThePage) {
  using Align = TextColumn::Align;
  const std::string kernel = "void kernel<" + std::string(900, 'x') + ">";
  for (const std::size_t names : {std::size_t{0}, std::size_t{1}}) {
    TextTable table({{"step"}, {"op", Align::left}, {"unit", Align::left}, {"after", Align::left}},
                    names);
    table.add({"1", kernel + "(int)", "stream 7", ""});
    table.add({"2", kernel + "(float)", "stream 7", kernel + "(int)"});
    for (const std::size_t width : {60, 80, 100, 200}) {
      std::istringstream lines(table.print(width));
      for (std::string line; std::getline(lines, line);) EXPECT_LE(columns_of(line), width) << line;
    }
  }
}

TEST(TextTable, TextsThatAreShortenedStayApart) {
  using Align = TextColumn::Align;
  TextTable table({{"step"}, {"op", Align::left}});
  table.add({"1", std::string(200, 'x') + "A" + std::string(200, 'x')});
  table.add({"2", std::string(200, 'x') + "B" + std::string(200, 'x')});
  const std::string text = table.print(60);
  EXPECT_NE(text.find('A'), std::string::npos);
  EXPECT_NE(text.find('B'), std::string::npos);
}

TEST(TextTable, FilesBeganWithAPartOfAFilesName) {
  TextTable table({{.heading = "profile", .align = TextColumn::Align::left, .is_path = true},
                   {.heading = "format"}});
  table.add({"/data/measured/today/on_a_board/g3_p1.log", "log"});
  table.add({"/data/measured/today/on_a_board/g3_p2.log", "log"});
  const std::string text = table.print(30);
  EXPECT_NE(text.find("on_a_board/\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  g3_p1.log"), std::string::npos) << text;
}

TEST(TextTable, TextsThatFitStayWhole) {
  using Align = TextColumn::Align;
  const std::string op(70, 'x');
  TextTable table({{"step"}, {"op", Align::left}, {"kind", Align::left, false}});
  table.add({"1", op, "kernel"});
  EXPECT_NE(table.print(100).find(op + "  kernel"), std::string::npos);
}

}  // namespace
}  // namespace npuscope::report::text_table_test
