#include "base/json_writer.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace npuscope::json_writer_test {
namespace {

const std::vector<int> dims{1, 8};

template <class Out>
void write_sample(JsonWriter<Out>& json) {
  json.object([&] {
    json.member("name", "conv \"1\"\n");
    json.key("dims");
    json.array(
        dims, [&](int dim) { json.value(dim); }, JsonLayout::spaced());
    json.key("none");
    json.array(std::vector<int>(), [&](int) {});
    json.key("rows");
    json.array(dims, [&](int dim) {
      json.object([&] {
        json.member("half", dim / 2.0);
        json.member("even", dim % 2 == 0);
      });
    });
  });
}

TEST(JsonWriter, WritesWithoutBlanks) {
  std::string out;
  JsonWriter json(out);
  write_sample(json);
  EXPECT_EQ(out, R"({"name":"conv \"1\"\n","dims":[1, 8],"none":[],)"
                 R"("rows":[{"half":0.5,"even":false},{"half":4,"even":true}]})");
}

TEST(JsonWriter, WritesAnElementALine) {
  std::string out;
  JsonLayout layout = JsonLayout::indented(2);
  layout.has_points = true;
  JsonWriter json(out, layout);
  write_sample(json);
  EXPECT_EQ(out, R"({
  "name": "conv \"1\"\n",
  "dims": [1, 8],
  "none": [],
  "rows": [
    {
      "half": 0.5,
      "even": false
    },
    {
      "half": 4.0,
      "even": true
    }
  ]
})");
}

TEST(JsonWriter, HasALayoutForEachArray) {
  std::string out;
  JsonWriter json(out);
  json.array(
      dims, [&](int dim) { json.array(dims, [&](int other) { json.value(dim * other); }); },
      JsonLayout::lines());
  EXPECT_EQ(out, "[[1,8],\n[8,64]]");
}

TEST(JsonWriter, WritesNumbersThatReadBack) {
  std::string out;
  JsonWriter json(out);
  json.begin_array();
  json.value(std::numeric_limits<std::int64_t>::min());
  json.value(std::numeric_limits<std::uint64_t>::max());
  json.value(std::uint8_t(7));
  json.value(0.1f);
  json.value(1e300);
  json.value(std::numeric_limits<double>::quiet_NaN());
  json.value(-std::numeric_limits<float>::infinity());
  json.end_array();
  EXPECT_EQ(out, "[-9223372036854775808,18446744073709551615,7,0.1,1e+300,null,null]");
  EXPECT_EQ(nlohmann::json::parse(out)[4].get<double>(), 1e300);
}

TEST(JsonWriter, WritesToAnyOutput) {
  struct Pieces {
    std::string all;
    void add(std::string_view text) { all += text; }
  } out;
  JsonWriter json(out, JsonLayout::indented(20));
  json.object([&] { json.key("a"), json.object([&] { json.member("b", 1); }); });
  EXPECT_EQ(out.all, "{\n" + std::string(20, ' ') + "\"a\": {\n" + std::string(40, ' ') +
                         "\"b\": 1\n" + std::string(20, ' ') + "}\n}");
}

}  // namespace
}  // namespace npuscope::json_writer_test
