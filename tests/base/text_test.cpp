#include "base/text.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "base/has_text.hpp"

namespace npuscope::text_test {
namespace {

TEST(Thousands, AreSeparatedByCommas) {
  EXPECT_EQ(thousands(0), "0");
  EXPECT_EQ(thousands(999), "999");
  EXPECT_EQ(thousands(1'000), "1,000");
  EXPECT_EQ(thousands(12'852), "12,852");
  EXPECT_EQ(thousands(208'436'985'856), "208,436,985,856");
  EXPECT_EQ(thousands(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
}

TEST(Printable, LeavesOrdinaryTextAlone) {
  EXPECT_EQ(printable("/layer.0/attention/MatMul"), "/layer.0/attention/MatMul");
  EXPECT_EQ(printable("Größe 层 🙂"), "Größe 层 🙂");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, EscapesWhatSteersATerminal) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(printable("two\nlines\r\t"), "two\\x0alines\\x0d\\x09");
  EXPECT_EQ(printable("del\x7f"), "del\\x7f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");  // C1: another way to write ESC [
  EXPECT_EQ(printable("\u202Efdp.exe"), "\\xe2\\x80\\xaefdp.exe");  // right-to-left override
  EXPECT_EQ(printable("\u2066x\u2069"), "\\xe2\\x81\\xa6x\\xe2\\x81\\xa9");
}

TEST(Printable, EscapesWhatIsNotUtf8) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\xc0\x80"), "\\xc0\\x80");                    // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
  EXPECT_EQ(printable("cut \xe5\xb1"), "cut \\xe5\\xb1");
}

std::string escaped(std::string_view text) {
  std::string out;
  append_json_escaped(out, text);
  return out;
}

TEST(JsonEscape, EscapesQuotesBackslashesAndControls) {
  EXPECT_EQ(escaped("say \"hi\"\\\n"), "say \\\"hi\\\"\\\\\\n");
  EXPECT_EQ(escaped("\t\r\x01\x1f"), "\\t\\r\\u0001\\u001f");
  EXPECT_EQ(escaped("</script>"), "</script>");
  EXPECT_EQ(escaped("层"), "层");
}

TEST(JsonEscape, ReplacesEachByteThatIsNotUtf8) {
  EXPECT_EQ(escaped("a\xff"
                    "b"),
            "a\uFFFDb");
  EXPECT_EQ(escaped("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(escaped("end\xe5\xb1"), "end\uFFFD\uFFFD");
}

TEST(JsonEscape, Appends) {
  std::string out = "{\"name\": \"";
  append_json_escaped(out, "x\"y");
  EXPECT_EQ(out, "{\"name\": \"x\\\"y");
}

// Texts that mix plain, special and broken bytes.
std::string random_text(std::mt19937& random) {
  static constexpr std::string_view pieces[] = {
      "a",    "\"",       "\\",   "\n",   "\x1f",     "ö",        "层",        "🙂",
      "\xc2", "\xe5\xb1", "\xff", "\x7f", "\xed\xa0", "\xf0\x9f", "plain text"};
  std::string text;
  for (auto left = random() % 30; left > 0; --left) text += pieces[random() % std::size(pieces)];
  if (random() % 4 == 0) text += '\0';
  return text;
}

// An independent judge: the JSON library refuses to write a string that is not UTF-8.
bool is_utf8(const std::string& text) {
  try {
    return !nlohmann::json(text).dump().empty();
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

TEST(JsonEscape, AParserGivesTheTextBack) {
  std::mt19937 random(11);
  int well_formed = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = random_text(random);
    const auto parsed = nlohmann::json::parse("\"" + escaped(text) + "\"", nullptr, false);
    ASSERT_TRUE(parsed.is_string()) << printable(text);
    if (!is_utf8(text)) continue;
    ++well_formed;
    ASSERT_EQ(parsed.get<std::string>(), text);
  }
  EXPECT_GT(well_formed, 500);
}

TEST(Printable, IsAlwaysOneLineOfUtf8) {
  std::mt19937 random(13);
  for (int i = 0; i < 20'000; ++i) {
    const std::string shown = printable(random_text(random));
    ASSERT_TRUE(is_utf8(shown));
    for (const char c : shown) ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != '\x7f');
  }
}

TEST(ValidUtf8, PutsTheReplacementCharacterForEachByteThatIsNone) {
  EXPECT_EQ(valid_utf8("a\xc3\xa9 b"), "a\xc3\xa9 b");
  EXPECT_EQ(valid_utf8("a\xff\xc3"), "a\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(valid_utf8(""), "");
}

TEST(Text, WordsOfACommandLineAreQuotedWhereAShellNeedsIt) {
  EXPECT_EQ(shell_word("runs/a-1.bin"), "runs/a-1.bin");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("my run"), "'my run'");
  EXPECT_EQ(shell_word("it's $HOME"), "'it'\\''s $HOME'");
}

TEST(Text, SmallLettersAndKeysAreOfAsciiWhateverTheLocale) {
  EXPECT_EQ(in_small_letters("MatMul_0 \xc3\x84"), "matmul_0 \xc3\x84");
  EXPECT_EQ(as_key("DDR read (bytes)"), "ddr_read_bytes");
  EXPECT_EQ(as_key("  % of HMX "), "of_hmx");
  EXPECT_EQ(as_key("%"), "column");
}

TEST(Text, IsInAnotherAsFindSays) {
  const std::string text = "{\"a\": \"b\", \"ab\": 1}";
  for (std::size_t at = 0; at <= text.size(); ++at) {
    for (std::size_t size = 0; size <= text.size() - at; ++size) {
      EXPECT_TRUE(has_text(text, text.substr(at, size)));
    }
  }
  EXPECT_FALSE(has_text(text, "\"c\""));
  EXPECT_FALSE(has_text(text, text + " "));
  EXPECT_FALSE(has_text({}, "a"));
}

}  // namespace
}  // namespace npuscope::text_test
