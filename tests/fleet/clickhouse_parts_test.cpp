// Addresses, answers and blocks of rows, without a server.
#include <gmock/gmock.h>

#include <cstdlib>

#include "fleet/clickhouse/http.hpp"
#include "fleet/clickhouse/tab_separated.hpp"
#include "fleet/clickhouse/tables.hpp"
#include "fleet/place/store_place.hpp"
#include "fleet/small_fleet.hpp"

namespace npuscope::fleet::clickhouse_parts_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string problem_of(const std::string& url) {
  const auto address = ClickHouseAddress::parse(url);
  return address ? "none" : address.error().message;
}

// Set for a test alone.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

TEST(ClickHouseAddress, HasItsPartsAndANameWithoutThePassword) {
  const auto address = ClickHouseAddress::parse(
      "clickhouse://m%40e:s%2Fe%3Ac@db-1.lab:9123/npus?cluster=lab&patience=7");
  ASSERT_TRUE(address) << address.error().message;
  EXPECT_EQ(address->host, "db-1.lab");
  EXPECT_EQ(address->port, 9123);
  EXPECT_EQ(address->user, "m@e");
  EXPECT_EQ(address->password, "s/e:c");
  EXPECT_EQ(address->database, "npus");
  EXPECT_EQ(address->cluster, "lab");
  EXPECT_EQ(address->patience, std::chrono::seconds(7));
  EXPECT_EQ(address->name(), "clickhouse://db-1.lab:9123/npus?cluster=lab");
  EXPECT_EQ(address->url("db2"), "http://db2:9123/");
  EXPECT_EQ(store_name("clickhouse://u:secret@h/d"), "clickhouse://h:8123/d");
  EXPECT_EQ(store_name("clickhouse://u:secret@h:x/d"), "clickhouse://");
  EXPECT_EQ(store_name("fleet.db"), "fleet.db");
}

TEST(ClickHouseAddress, HasDefaults) {
  const auto address = ClickHouseAddress::parse("clickhouse://host");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->port, 8123);
  EXPECT_EQ(address->database, "npuscope");
  EXPECT_FALSE(address->user || address->password || address->is_secure);
  const auto secure = ClickHouseAddress::parse("clickhouse://[::1]/x?secure=1&ca=%2Fetc%2Fca.pem");
  ASSERT_TRUE(secure) << secure.error().message;
  EXPECT_EQ(secure->url(secure->host), "https://[::1]:8443/");
  EXPECT_EQ(secure->ca_file, "/etc/ca.pem");
  EXPECT_EQ(secure->name(), "clickhouse://[::1]:8443/x");
}

TEST(ClickHouseAddress, TakesWhoAsksFromTheEnvironment) {
  const Variable user("NPUSCOPE_CLICKHOUSE_USER", "reader");
  const Variable password("NPUSCOPE_CLICKHOUSE_PASSWORD", "hidden");
  const auto address = ClickHouseAddress::parse("clickhouse://host/x");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->user, "reader");
  EXPECT_EQ(address->password, "hidden");
  EXPECT_EQ(ClickHouseAddress::parse("clickhouse://me:own@host/x")->password, "own");
}

TEST(ClickHouseAddress, ThatIsNoneIsRefusedWithoutThePassword) {
  for (const char* url :
       {"clickhouse://u:secret@/x", "clickhouse://u:secret@host:0/x",
        "clickhouse://u:secret@host:99999/x", "clickhouse://u:secret@host/a`b",
        "clickhouse://u:secret@host/x?cluster=a'b", "clickhouse://u:secret@host/x?other=1",
        "clickhouse://u:secret%2@host/x", "clickhouse://u:secret@host/x?patience=-1",
        "clickhouse://u:secret@host/x?secure=yes", "clickhouse://u:secret@[::1/x",
        "clickhouse://u:secret@ho st/x", "clickhouse://u:secret@host/x/y"}) {
    EXPECT_NE(problem_of(url), "none") << url;
    EXPECT_THAT(problem_of(url), Not(HasSubstr("secret")));
  }
  EXPECT_THAT(problem_of("clickhouse://host/x?shard=1"), HasSubstr("unknown option 'shard'"));
}

class Lines : public query::RowSink {
 public:
  void columns(const std::vector<std::string>& names) override {
    lines.push_back(fmt::format("{}", fmt::join(names, "|")));
  }
  bool row(std::span<const query::Cell> cells) override {
    std::string line;
    struct Text {
      std::string operator()(std::monostate) const { return "NULL"; }
      std::string operator()(std::int64_t number) const { return fmt::format("i{}", number); }
      std::string operator()(double number) const { return fmt::format("d{}", number); }
      std::string operator()(std::string_view text) const { return "t" + std::string(text); }
      std::string operator()(ByteSpan) const { return "?"; }
    };
    for (const query::Cell& cell : cells)
      line += (line.empty() ? "" : "|") + std::visit(Text{}, cell);
    lines.push_back(std::move(line));
    return lines.size() < limit;
  }
  std::vector<std::string> lines;
  std::size_t limit = 1'000'000;
};

constexpr std::string_view answer =
    "id\tp50\tna\\tme\nInt64\tNullable(Float64)\tLowCardinality(Nullable(String))\n"
    "4611686018427387903\t0.30000000000000004\ta\\tb\\\\N\n"
    "-1\tnan\t\\N\n"
    "0\t\\N\t\n";

// However the bytes come.
TEST(TabSeparated, AnswersAreReadInAnyPieces) {
  for (std::size_t piece = 1; piece < answer.size() + 1; ++piece) {
    Lines lines;
    TabSeparated reader(lines);
    for (std::size_t at = 0; at < answer.size(); at += piece) {
      ASSERT_TRUE(reader.take(answer.substr(at, piece)));
    }
    EXPECT_TRUE(reader.finish());
    EXPECT_THAT(lines.lines,
                ElementsAre("id|p50|na\tme", "i4611686018427387903|d0.30000000000000004|ta\tb\\N",
                            "i-1|NULL|NULL", "i0|NULL|t"));
  }
}

// Cut or flipped: rows or a sentence, and no row of another width.
TEST(TabSeparated, WhateverComesIsReadOrRefused) {
  for (std::size_t cut = 0; cut < answer.size(); ++cut) {
    Lines lines;
    TabSeparated reader(lines);
    reader.take(answer.substr(0, cut));
    const bool ends_a_line = cut > 60 && answer[cut - 1] == '\n';
    EXPECT_EQ(reader.finish().has_value(), ends_a_line) << cut;
  }
  std::uint64_t state = 7;
  for (int round = 0; round < 2'000; ++round) {
    std::string bytes(answer);
    for (int flip = 0; flip < 3; ++flip) {
      state = state * 6'364'136'223'846'793'005u + 1'442'695'040'888'963'407u;
      bytes[(state >> 20) % bytes.size()] = char(state >> 56);
    }
    Lines lines;
    TabSeparated reader(lines);
    reader.take(bytes);
    const Status whole = reader.finish();
    EXPECT_TRUE(whole || !whole.error().message.empty());
  }
}

TEST(TabSeparated, StopsWhereTheSinkHasEnough) {
  Lines lines;
  lines.limit = 2;
  TabSeparated reader(lines);
  EXPECT_FALSE(reader.take(answer));
  EXPECT_TRUE(reader.finish());
  EXPECT_EQ(lines.lines.size(), 2u);
}

TEST(NativeBlock, HasColumnsAfterOneAnother) {
  NativeBlock block(2, 2);
  using schema::cell_of, schema::head_of, schema::FieldUnit;
  using Number = std::optional<std::int64_t>;
  const schema::Cell numbers[] = {cell_of(Number()), cell_of(Number(5))};
  block.column(head_of<Number>("a", FieldUnit::none, ""), numbers);
  const std::string texts[] = {"x", std::string(200, 'y')};
  const schema::Cell cells[] = {cell_of(texts[0]), cell_of(texts[1])};
  block.column(head_of<std::string>("b", FieldUnit::none, ""), cells);
  const std::string expected = std::string("\2\2\1a\17Nullable(Int64)\1\0", 22) +
                               std::string(8, '\0') + std::string("\5\0\0\0\0\0\0\0", 8) +
                               "\1b\6String\1x" + "\xc8\1" + std::string(200, 'y');
  EXPECT_EQ(block.bytes(), expected);
}

TEST(UrlEncoded, LeavesNothingThatAUrlReads) {
  EXPECT_EQ(url_encoded("INSERT INTO `a` (b)&x=1"), "INSERT%20INTO%20%60a%60%20%28b%29%26x%3D1");
}

}  // namespace
}  // namespace npuscope::fleet::clickhouse_parts_test
