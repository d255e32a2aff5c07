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
  layout.numbers = JsonNumbers::points;
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

TEST(JsonWriter, SeesWhatNeedsAnEscapeAtEveryPlace) {
  for (std::size_t length = 1; length <= 20; ++length) {
    EXPECT_TRUE(needs_no_json_escape(std::string(length, '~')));
    for (std::size_t place = 0; place < length; ++place) {
      for (int c = 0; c < 256; ++c) {
        std::string text(length, 'a');
        text[place] = char(c);
        EXPECT_EQ(needs_no_json_escape(text), c >= 0x20 && c < 0x80 && c != '"' && c != '\\')
            << length << " " << place << " " << c;
      }
    }
  }
  EXPECT_TRUE(needs_no_json_escape({}));
}

TEST(JsonWriter, WritesKeysMadeBeforehandAsTheOthers) {
  const JsonLayout layout{.first = "<", .between = ", ", .last = ">", .colon = ": "};
  const JsonKey a("a \"1\"", layout), b("b", layout);
  TextOutput out;
  JsonWriter json(out, layout);
  json.begin_object();
  json.key(a), json.value(1);
  json.key(b), json.null();
  json.member("c", 2);
  json.key(b), json.quoted(3);
  json.end_object();
  EXPECT_EQ(out.text(), R"({<"a \"1\"": 1, "b": null, "c": 2, "b": "3">})");
}

TEST(JsonWriter, WritesNumbersAsTheLayoutSays) {
  const auto written = [](JsonNumbers numbers) {
    const JsonLayout layout{.numbers = numbers};
    std::string text;
    TextOutput pieces;
    JsonWriter to_text(text, layout);
    JsonWriter to_pieces(pieces, layout);
    const auto write = [](auto& json) {
      json.begin_array();
      json.value(100000.0);
      json.value(0.5);
      json.value_with_point(2.0);
      json.value_with_point(1e20);
      json.end_array();
    };
    write(to_text);
    write(to_pieces);
    EXPECT_EQ(text, pieces.text());
    return text;
  };
  EXPECT_EQ(written(JsonNumbers::plain), "[100000,0.5,2.0,1e+20]");
  EXPECT_EQ(written(JsonNumbers::points), "[100000.0,0.5,2.0,1e+20]");
  EXPECT_EQ(written(JsonNumbers::shortest), "[1e+05,0.5,2.0,1e+20]");
}

TEST(TextOutput, HandsOnAllPiecesInOrder) {
  std::string all, expected;
  const std::function<void(std::string_view)> sink = [&](std::string_view piece) { all += piece; };
  {
    TextOutput out(sink);
    for (const std::size_t size : {0u, 1u, 1'000'000u, 100'000u, 3'000'000u, 5u}) {
      const std::string piece(size, char('a' + size % 26));
      out.add(piece);
      out.add_number(size);
      out.print("{:x}|", size);
      expected += piece + fmt::format("{}{:x}|", size, size);
    }
  }
  EXPECT_EQ(all, expected);
}

TEST(TextOutput, HoldsAllWithoutASink) {
  std::string expected;
  TextOutput out;
  for (int i = 0; i < 1'000; ++i) {
    out.add_number(i);
    out.add(',');
    expected += fmt::format("{},", i);
  }
  EXPECT_EQ(out.text(), expected);
  out.clear();
  out.add("again");
  EXPECT_EQ(out.text(), "again");
}

TEST(JsonWriter, WritesIntoPieces) {
  TextOutput out;
  JsonWriter json(out, JsonLayout::indented(20));
  json.object([&] { json.key("a"), json.object([&] { json.member("b", 1); }); });
  EXPECT_EQ(out.text(), "{\n" + std::string(20, ' ') + "\"a\": {\n" + std::string(40, ' ') +
                            "\"b\": 1\n" + std::string(20, ' ') + "}\n}");
}

}  // namespace
}  // namespace npuscope::json_writer_test
