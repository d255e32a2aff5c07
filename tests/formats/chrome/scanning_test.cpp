// The pieces that find events in text, each against a slow and obvious twin.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "formats/chrome/parse/decimal.hpp"
#include "formats/chrome/problems.hpp"
#include "formats/chrome/text/bracket_scanner.hpp"
#include "formats/chrome/text/damaged_text.hpp"
#include "formats/chrome/text/event_cutter.hpp"
#include "formats/chrome/text/json_checker.hpp"

namespace npuscope::chrome::scanning_test {
namespace {

struct SlowFound {
  std::size_t last_event_end = 0;
  std::size_t list_end = std::string::npos;
  std::uint64_t stray_brackets = 0;
};

SlowFound slow_scan(const std::string& text) {
  SlowFound found;
  std::size_t depth = 0;
  bool in_string = false;
  bool escaped = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char byte = text[i];
    const bool is_escaped = std::exchange(escaped, !escaped && byte == '\\');
    if (byte == '"' && !is_escaped) in_string = !in_string;
    if (in_string) continue;
    if (byte == '{' || byte == '[') ++depth;
    if (byte != '}' && byte != ']') continue;
    if (depth > 0) {
      if (--depth == 0) found.last_event_end = i + 1;
    } else if (byte == ']') {
      found.list_end = i;
      return found;
    } else {
      ++found.stray_brackets;
    }
  }
  return found;
}

TEST(BracketScanner, FindsTheSameAsASlowScanInPiecesOfAnySize) {
  std::mt19937 random(3);
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    const std::size_t size = random() % 300;
    const std::string_view alphabet =
        round % 2 == 0 ? "{}[]\"\\ab,  " : "{{}}\"\"\"xxxxxxxxxxxxx\\\\";
    for (std::size_t i = 0; i < size; ++i) text += alphabet[random() % alphabet.size()];
    const SlowFound expected = slow_scan(text);
    BracketScanner scanner;
    SlowFound found;
    for (std::size_t begin = 0; begin < size && found.list_end == std::string::npos;) {
      const std::size_t piece = std::min<std::size_t>(1 + random() % 150, size - begin);
      const auto in_piece = scanner.scan(std::string_view(text).substr(begin, piece));
      if (in_piece.last_event_end) found.last_event_end = begin + *in_piece.last_event_end;
      if (in_piece.list_end) found.list_end = begin + *in_piece.list_end;
      found.stray_brackets += in_piece.stray_brackets;
      begin += piece;
    }
    ASSERT_EQ(found.last_event_end, expected.last_event_end) << text;
    ASSERT_EQ(found.list_end, expected.list_end) << text;
    ASSERT_EQ(found.stray_brackets, expected.stray_brackets) << text;
  }
}

TEST(BlockMasks, AreTheSameInRegistersOfAnyWidth) {
  std::mt19937 random(4);
  constexpr std::string_view alphabet = "{}[]\"\\a[{;}]\xfb\xdd\x02";
  for (int round = 0; round < 1000; ++round) {
    std::string text(3 * block_bytes, ' ');
    for (char& byte : text) byte = alphabet[random() % alphabet.size()];
    for (const auto find : {find_masks, find_masks_plainly}) {
      BlockMasks masks[3];
      find(text.data(), 3, masks);
      for (std::size_t block = 0; block < 3; ++block) {
        BlockMasks slow;
        bool in_string = false;
        for (std::size_t i = 0; i < block_bytes; ++i) {
          const char byte = text[block * block_bytes + i];
          in_string = in_string != (byte == '"');
          slow.quotes |= std::uint64_t(byte == '"') << i;
          slow.strings |= std::uint64_t(in_string) << i;
          slow.backslashes |= std::uint64_t(byte == '\\') << i;
          slow.brackets |=
              std::uint64_t(std::string_view("{}[]").find(byte) != std::string_view::npos) << i;
        }
        ASSERT_EQ(masks[block].quotes, slow.quotes) << text;
        ASSERT_EQ(masks[block].strings, slow.strings) << text;
        ASSERT_EQ(masks[block].backslashes, slow.backslashes) << text;
        ASSERT_EQ(masks[block].brackets, slow.brackets) << text;
      }
    }
  }
}

// One that began with the separator behind the event before it was read as a damaged one, at twenty
// times the cost. 17 divides the size of a window plus one: events of 16 bytes end with the window.
TEST(EventCutter, ChunksBeginWithAnEventWhereTheOneBeforeEndedWithTheWindow) {
  static_assert((chunk_bytes + 1) % 17 == 0);
  std::string trace = "[";
  while (trace.size() < 3 * chunk_bytes) trace += R"({"ph":"X","a":1},)";
  trace.back() = ']';
  const auto source = open_byte_source(trace, "trace.json");
  BufferPool buffers;
  EventCutter cutter(**source, buffers);
  std::size_t chunks = 0;
  for (Chunk chunk; cutter.next(chunk); ++chunks) {
    EXPECT_EQ(chunk.text().substr(0, 5), "{\"ph\"");
    EXPECT_EQ(chunk.text().back(), '}');
  }
  EXPECT_EQ(chunks, 4u);
}

bool accepts(std::string_view text, std::size_t piece) {
  JsonChecker checker;
  std::size_t taken = 0;
  while (taken < text.size() && checker.state() == JsonChecker::State::incomplete) {
    taken += checker.take(text.substr(taken, piece));
  }
  checker.finish();
  return checker.state() == JsonChecker::State::complete &&
         text.substr(taken).find_first_not_of(" \n\t\r") == std::string_view::npos;
}

// Nothing when a number beyond a double kept the parser from seeing the rest.
std::optional<bool> parser_accepts(const std::string& text) {
  try {
    return !nlohmann::json::parse(text).is_discarded();
  } catch (const nlohmann::json::out_of_range&) {
    return std::nullopt;
  } catch (const nlohmann::json::parse_error&) {
    return false;
  }
}

TEST(JsonChecker, AcceptsWhatAParserAccepts) {
  std::mt19937 random(9);
  const std::string whole =
      R"({"a":[1,-2.5e+10,0.0,"x\u00e9\"y\\",{"b":null,"c":[true,false,[]],"":{}}],"d":-0,"e":1E5})";
  EXPECT_TRUE(accepts(whole, 3));
  std::size_t accepted = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::string text = whole;
    for (std::size_t i = 0; i < 1 + random() % 2; ++i) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0: text[at] = "{}[]\",:\\0123.eE+-tfnu x"[random() % 23]; break;
        case 1: text.erase(at, 1 + random() % 4); break;
        default: text.insert(at, 1, "{}[]\",:\\019.e-"[random() % 14]); break;
      }
    }
    const auto expected = parser_accepts(text);
    if (!expected) continue;
    ASSERT_EQ(accepts(text, 1 + random() % 20), *expected) << text;
    accepted += *expected ? 1 : 0;
  }
  EXPECT_GT(accepted, 1'000u);
}

TEST(JsonChecker, PassesWhatPythonWritesForNoNumber) {
  EXPECT_TRUE(accepts("[NaN, Infinity, -Infinity]", 100));
  EXPECT_FALSE(accepts("[nan]", 100));
  EXPECT_FALSE(accepts("[-NaN]", 100));
}

bool accepts_leniently(std::string_view text) {
  JsonChecker checker(true);
  const std::size_t taken = checker.take(text);
  checker.finish();
  return checker.state() == JsonChecker::State::complete && taken == text.size();
}

// What a lenient one passes is JSON once mended, and what was JSON stays as it is.
TEST(JsonChecker, PassesLenientlyWhatCanBeMended) {
  std::mt19937 random(10);
  const std::string whole = R"({"a":[1,-2.5,"x,]y",{"b":null,"c":[true,[]],"":{"k":1}}],"d":"e"})";
  std::size_t mendable = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::string text = whole;
    for (std::size_t i = 0; i < 1 + random() % 3; ++i) {
      const std::size_t at = random() % text.size();
      if (random() % 4 == 0) text.erase(at, 1 + random() % 3);
      text.insert(at, 1, ",,,\n\t\x01{}[]\":x1"[random() % 14]);
    }
    const bool sound = parser_accepts(text).value_or(false);
    if (sound) {
      EXPECT_TRUE(accepts_leniently(text)) << text;
      EXPECT_EQ(mended(text), text);
    } else if (accepts_leniently(text)) {
      EXPECT_TRUE(parser_accepts(mended(text)).value_or(false)) << text << '\n' << mended(text);
      ++mendable;
    }
  }
  EXPECT_GT(mendable, 1'000u);
}

TEST(JsonChecker, StopsBehindTheValue) {
  JsonChecker checker;
  EXPECT_EQ(checker.take(R"({"a":1}, {"b")"), 7u);
  EXPECT_EQ(checker.state(), JsonChecker::State::complete);
  checker.restart();
  EXPECT_EQ(checker.take("12,"), 2u);
  EXPECT_EQ(checker.state(), JsonChecker::State::complete);
  checker.restart();
  EXPECT_EQ(checker.take(R"({"a" 1})"), 5u);
  EXPECT_EQ(checker.state(), JsonChecker::State::broken);
}

TEST(CarefulSplit, GoesOnAtTheNextObjectThatFollowsOne) {
  const std::string text = R"({"a":1} , {"b":},  {"c":3},4,{"d)";
  const CarefulSplit split = split_carefully(text);
  ASSERT_EQ(split.pieces.size(), 4u);
  const auto piece = [&](std::size_t i) {
    return text.substr(split.pieces[i].begin, split.pieces[i].end - split.pieces[i].begin) +
           (split.pieces[i].sound ? "" : " broken");
  };
  EXPECT_EQ(piece(0), R"({"a":1})");
  EXPECT_EQ(piece(1), R"({"b":},   broken)");
  EXPECT_EQ(piece(2), R"({"c":3})");
  EXPECT_EQ(piece(3), "4");
  EXPECT_EQ(text.substr(split.end), R"({"d)");
  EXPECT_FALSE(split.lost);
}

TEST(Thousandths, AreExact) {
  const std::pair<const char*, std::int64_t> cases[] = {
      {"0", 0},
      {"-0", 0},
      {"1", 1000},
      {"1.5", 1500},
      {"1.0005", 1001},
      {"1.0004999", 1000},
      {"-1.0005", -1001},
      {"1682725898237042.001", 1682725898237042001},
      {"1e3", 1'000'000},
      {"1E-3", 1},
      {"5e-4", 1},
      {"4.9e-4", 0},
      {"2.13333e+06", 2133330000},
      {"0.1e-400", 0},
      {"123456789.123456789123456789", 123456789123},
      {"4611686018427387.903", 4611686018427387903},
      {"000012", 12000},
      {"9999999999999999999999e-20", 100000},
      {"0e99999999999", 0}};
  for (const auto& [text, expected] : cases) EXPECT_EQ(parse_thousandths(text), expected) << text;
  for (const char* text : {"", "-", ".", "1.2.3", "e5", "1e", "NaN", "Infinity", "1e300",
                           "9223372036854775807", "0x10", "1 ", "true"}) {
    EXPECT_EQ(parse_thousandths(text), std::nullopt) << text;
  }
}

TEST(Unescape, GivesTheTextThatIsMeant) {
  const auto text_of = [](std::string_view raw) {
    std::string text;
    const bool whole = unescape(raw, text);
    return text + (whole ? "" : " replaced");
  };
  EXPECT_EQ(text_of(R"(a\"\\\/\b\f\n\r\tz)"), "a\"\\/\b\f\n\r\tz");
  EXPECT_EQ(text_of(R"(\u0041\u00e9\u20ac\ud83d\ude00)"), "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(text_of(R"(\ud83dx)"), "\xef\xbf\xbdx replaced");
  EXPECT_EQ(text_of(R"(\ude00)"), "\xef\xbf\xbd replaced");
  EXPECT_EQ(text_of(R"(\u12)"),
            "\xef\xbf\xbd"
            "12 replaced");
}

}  // namespace
}  // namespace npuscope::chrome::scanning_test
