// Logs that a pipe cut, mixed or damaged: what is read of them is whole, whatever is left.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "formats/ggml/log_text.hpp"
#include "formats/ggml/profile.hpp"

namespace npuscope::ggml::hostile_test {
namespace {

// With all kinds of lines that the reader knows.
std::string whole_log() {
  return "## SPLIT #0: CPU # 0 inputs\nnode #  0 (  GET_ROWS): inp_embd (   4K) [  CPU ]\n"
         "## SPLIT #1: HTP0 # 1 inputs\nnode #  1 (   MUL_MAT): Qcur-0 (   4K) [ HTP0 ]\n"
         "ggml-hex: HTP0 supports-op SSM_CONV|a -> conv-3|1:1 -> 1:1|f32 -> f32|4|b|no\n" +
         generate({.generation = 6, .mode = 3, .sessions = 2}).text +
         generate({.generation = 3, .mode = 2}).text +
         "{\"build_commit\": \"a\", \"n_prompt\": 512, \"n_gen\": 0, \"avg_ts\": 99.5}\n"
         "| model | test | t/s |\n| a | tg128 | 5.0 \xc2\xb1 0.1 |\n"
         "  MUL_MAT(m=4096,n=1): 852 runs - 1184.56 us/run - 33.55 MFLOP/run - 28.33 GFLOPS\n";
}

// Every span is of a unit and an op that exist, and none ends before it begins.
void expect_sound(const std::string& text) {
  const auto source = open_byte_source(std::string_view(text), "file");
  auto log = read_log(**source);
  if (!log) return;
  for (const Profile& profile : make_profiles(*log)) {
    const Spans& spans = profile.spans;
    for (std::size_t row = 0; row < spans.size(); ++row) {
      ASSERT_LT(index_of(spans.unit[row]), profile.units.size());
      ASSERT_TRUE(spans.op[row] == OpId::none || index_of(spans.op[row]) < profile.ops.size());
      ASSERT_GE(spans.duration[row], 0);
    }
    for (const Measure& measure : profile.measures) ASSERT_TRUE(std::isfinite(measure.value));
  }
}

TEST(Hostile, AnyBeginningOfALogIsOne) {
  const std::string text = whole_log();
  for (std::size_t size = 0; size < text.size(); size += 997) expect_sound(text.substr(0, size));
}

TEST(Hostile, NumbersOfAnySize) {
  const std::string text = whole_log();
  for (const char* word :
       {"usec ", "cycles ", "start ", "info ", "n-ops ", "vtcm ", "runs ", ":"}) {
    for (const char* number :
         {"0", "-1", "4294967296", "9223372036854775807", "99999999999999999999", "1e308", "nan"}) {
      std::string changed;
      std::size_t from = 0;
      for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, from)) {
        changed.append(text, from, at + std::string_view(word).size() - from);
        changed += number;
        from = std::min(text.find_first_not_of("0123456789", at + std::string_view(word).size()),
                        text.size());
      }
      expect_sound(changed.append(text, from));
    }
  }
}

TEST(Hostile, BytesAndLinesInAnyOrder) {
  std::mt19937 random(11);
  for (int round = 0; round < 40; ++round) {
    std::string text = whole_log();
    for (int i = 0; i < 300; ++i) text[random() % text.size()] = char(random());
    expect_sound(text);
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      lines.push_back(text.substr(at, end + 1 - at));
      at = end + 1;
    }
    std::shuffle(lines.begin(), lines.end(), random);
    std::string mixed;
    for (const std::string& line : lines) mixed += line;
    expect_sound(mixed);
  }
}

}  // namespace
}  // namespace npuscope::ggml::hostile_test
