// What the reader makes of logs of every generation, against what their generator knows.
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "formats/ggml/log_text.hpp"
#include "formats/ggml/profile.hpp"
#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope::ggml::read_log_test {
namespace {

using ::testing::HasSubstr;

std::string name_of_options(const testing::TestParamInfo<LogOptions>& info) {
  return fmt::format("G{}Mode{}Number{}", info.param.generation, info.param.mode, info.index);
}

std::vector<Profile> profiles_of(std::string_view text) {
  const auto source = open_byte_source(text, "file");
  auto log = read_log(**source);
  EXPECT_TRUE(log) << (log ? "" : log.error().message);
  return log ? make_profiles(*log) : std::vector<Profile>{};
}

std::string notes_of(const std::vector<Profile>& profiles) {
  std::string text;
  for (const Profile& profile : profiles) {
    for (const Note& note : profile.notes) {
      text += fmt::format("{}: {} {}\n", profile.provenance.graph, note.message, note.count);
    }
  }
  return text;
}

bool is_window(const Profile& profile, std::size_t row) {
  const MeasureColumn* windows = profile.spans.measure(NumberRole::op_window);
  return windows != nullptr && windows->values[row] != MeasureColumn::missing;
}

struct Window {
  const Profile* profile;
  std::size_t row;
};

// In the order of the log: profiles are in that order, and so are the spans in each.
std::vector<Window> windows_of(const std::vector<Profile>& profiles) {
  std::vector<Window> windows;
  for (const Profile& profile : profiles) {
    for (std::size_t row = 0; row < profile.spans.size(); ++row) {
      if (is_window(profile, row)) windows.push_back({&profile, row});
    }
  }
  return windows;
}

class OfEveryGeneration : public testing::TestWithParam<LogOptions> {};

TEST_P(OfEveryGeneration, OpsLayersPhasesAndCycles) {
  const GeneratedLog log = generate(GetParam());
  const std::vector<Profile> profiles = profiles_of(log.text);
  const std::vector<Window> windows = windows_of(profiles);
  std::size_t at = 0;
  double all = 0, all_true = 0;
  for (const Window& window : windows) all += double(window.profile->spans.duration[window.row]);
  for (const TrueBatch& batch : log.batches) {
    for (const TrueOp& op : batch.ops) all_true += double(op.cycles);
  }
  for (const TrueBatch& batch : log.batches) {
    for (const TrueOp& op : batch.ops) {
      ASSERT_LT(at, windows.size());
      const auto [profile, row] = windows[at++];
      const Op& read = profile->ops[index_of(profile->spans.op[row])];
      const std::string label =
          op.layer >= 0 ? fmt::format("blk.{}.{}", op.layer, op.role) : op.role;
      EXPECT_EQ(profile->text(read.node), label);
      EXPECT_EQ(profile->text(read.node_kind), op.op);
      EXPECT_EQ(profile->provenance.graph, batch.phase);
      EXPECT_EQ(profile->spans.processor_cycles[row], std::int64_t(op.cycles));
      const auto duration = double(profile->spans.duration[row]);
      const double share = duration / all, true_share = double(op.cycles) / all_true;
      EXPECT_NEAR(share / true_share, 1, 0.002);
      EXPECT_NEAR(duration / (double(op.cycles) / GetParam().cycles_per_us * 1e6), 1, 0.004);
      // Of the op, or of an event in its window.
      double read_bytes = 0, macs = 0;
      const MeasureColumn* bytes = profile->spans.measure(NumberRole::ddr_read);
      const Interval window = interval_of(profile->spans, row);
      for (std::size_t each = 0; bytes != nullptr && each < profile->spans.size(); ++each) {
        const Interval time = interval_of(profile->spans, each);
        const bool is_inside = time.begin >= window.begin && time.end <= window.end;
        if (is_inside && bytes->values[each] != MeasureColumn::missing) {
          read_bytes += double(bytes->values[each]);
        }
      }
      EXPECT_EQ(read_bytes, op.weight_bytes);
      for (const Measure& measure : profile->measures) {
        if (measure.subject != Measure::Subject::op) continue;
        const Op& of = profile->ops[measure.subject_id];
        const bool is_of = of.node == read.node && of.shape == read.shape;
        if (is_of && measure.meaning.quantity == NumberQuantity::macs) macs = measure.value;
      }
      EXPECT_EQ(macs, op.macs);
    }
  }
  EXPECT_EQ(at, windows.size());
  EXPECT_THAT(notes_of(profiles), Not(HasSubstr("cut")));
}

// Where counters say it, ops stand in their batch as they did, whatever wrapped in between.
TEST_P(OfEveryGeneration, StartsInTheBatch) {
  if (GetParam().generation < 3) GTEST_SKIP() << "no start times";
  const GeneratedLog log = generate(GetParam());
  const std::vector<Profile> profiles = profiles_of(log.text);
  const std::vector<Window> windows = windows_of(profiles);
  std::size_t at = 0;
  for (const TrueBatch& batch : log.batches) {
    std::optional<std::int64_t> first;
    for (const TrueOp& op : batch.ops) {
      ASSERT_LT(at, windows.size());
      const auto [profile, row] = windows[at++];
      const std::int64_t start = profile->spans.start[row];
      if (!first) first = start;
      const auto since = double(op.start - batch.ops.front().start);
      EXPECT_NEAR(double(start - *first), since / GetParam().cycles_per_us * 1e6, 2'000 + since);
    }
  }
}

// By marking every cycle of the window, of which a time is `step` ticks.
double covered_share(const std::vector<std::pair<std::int64_t, std::int64_t>>& pieces,
                     std::int64_t begin, std::int64_t end, double step = 1) {
  std::vector<bool> covered(std::size_t(std::llround(double(end - begin) / step)), false);
  for (const auto& [from, to] : pieces) {
    const auto first = std::llround(double(std::max(from, begin) - begin) / step);
    const auto last = std::llround(double(std::min(to, end) - begin) / step);
    for (auto at = first; at < last; ++at) covered[std::size_t(at)] = true;
  }
  return double(std::ranges::count(covered, true)) / double(covered.size());
}

TEST_P(OfEveryGeneration, SharesOfTheWindows) {
  if (GetParam().mode != 3 || GetParam().generation < 3) GTEST_SKIP() << "no events";
  const GeneratedLog log = generate(GetParam());
  const std::vector<Profile> profiles = profiles_of(log.text);
  const std::vector<Window> windows = windows_of(profiles);
  std::size_t at = 0;
  for (const TrueBatch& batch : log.batches) {
    for (const TrueOp& op : batch.ops) {
      const auto [profile, row] = windows.at(at++);
      const Spans& spans = profile->spans;
      const Interval window = interval_of(spans, row);
      const std::uint32_t core = profile->units[index_of(spans.unit[row])].core;
      for (const auto& [engine, prefix] :
           {std::pair{Engine::hvx, "HVX"}, {Engine::hmx, "HMX"}, {Engine::dma, "DMA"}}) {
        std::vector<std::pair<std::int64_t, std::int64_t>> read, known;
        for (std::size_t each = 0; each < spans.size(); ++each) {
          const Unit& unit = profile->units[index_of(spans.unit[each])];
          if (unit.engine != engine || unit.core != core) continue;
          const Interval time = interval_of(spans, each);
          if (time.begin >= window.end || time.end <= window.begin) continue;
          EXPECT_GE(time.begin, window.begin);
          EXPECT_LE(time.end, window.end);
          EXPECT_EQ(profile->text(profile->ops[index_of(spans.op[each])].node),
                    profile->text(profile->ops[index_of(spans.op[row])].node));
          read.emplace_back(time.begin, time.end);
        }
        for (const TrueEvent& event : batch.events) {
          if (event.name.starts_with(prefix)) known.emplace_back(event.start, event.end);
        }
        EXPECT_NEAR(covered_share(read, window.begin, window.end,
                                  double(length_of(window)) / double(op.cycles)),
                    covered_share(known, op.start, op.start + std::int64_t(op.cycles)), 1e-9)
            << op.role << " " << prefix;
      }
    }
  }
}

TEST_P(OfEveryGeneration, LostEventsAreCounted) {
  if (GetParam().lost_after == 0) GTEST_SKIP() << "none lost";
  const GeneratedLog log = generate(GetParam());
  std::map<std::string, std::uint64_t> lost;
  for (const TrueBatch& batch : log.batches) {
    for (const std::uint64_t of_thread : batch.lost) lost[batch.phase] += of_thread;
  }
  for (const Profile& profile : profiles_of(log.text)) {
    std::uint64_t said = 0;
    for (const Note& note : profile.notes) {
      if (note.message.starts_with("trace events were lost")) said = note.count;
    }
    EXPECT_EQ(said, lost[profile.provenance.graph]) << profile.provenance.graph;
  }
}

constexpr std::uint64_t before_wrap = (std::uint64_t{151} << 32) - 150'000;

INSTANTIATE_TEST_SUITE_P(
    Logs, OfEveryGeneration,
    testing::Values(LogOptions{.generation = 0}, LogOptions{.generation = 1},
                    LogOptions{.generation = 2}, LogOptions{.generation = 2, .mode = 2},
                    LogOptions{.generation = 3}, LogOptions{.generation = 3, .mode = 3},
                    LogOptions{.generation = 4, .mode = 3}, LogOptions{.generation = 4, .mode = 2},
                    LogOptions{.generation = 5}, LogOptions{.generation = 5, .mode = 3},
                    LogOptions{.generation = 6},
                    LogOptions{.generation = 6, .mode = 3, .layers = 5},
                    LogOptions{.generation = 6, .mode = 3, .counter = before_wrap},
                    LogOptions{.generation = 4, .mode = 3, .counter = before_wrap},
                    LogOptions{.generation = 6, .decoded = 12, .max_gap = 3'000'000'000},
                    LogOptions{.generation = 6, .mode = 3, .lost_after = 30},
                    LogOptions{.generation = 3, .mode = 3, .lost_after = 20},
                    LogOptions{.generation = 6, .warm_up = 1, .prompt_tokens = 512},
                    LogOptions{.generation = 1, .warm_up = 1},
                    LogOptions{.generation = 5, .has_prefix = false},
                    LogOptions{.generation = 6, .mode = 3, .has_colours = true},
                    LogOptions{.generation = 6, .is_json = true},
                    LogOptions{.generation = 6, .before = "11-29 12:00:00.123 D/llama ( 812): "},
                    LogOptions{.generation = 6, .session = "HTP0:"},
                    LogOptions{.generation = 6, .weights = "q4_K"},
                    LogOptions{.generation = 4, .weights = "q6_K"}),
    name_of_options);

// Ops of two sessions are on two cores, and a token is one inference of both.
TEST(Sessions, EachIsACore) {
  const GeneratedLog log = generate({.mode = 3, .layers = 4, .sessions = 2});
  const std::vector<Profile> profiles = profiles_of(log.text);
  ASSERT_EQ(profiles.size(), 2u);
  const Profile& decode = profiles[1];
  EXPECT_EQ(decode.provenance.graph, "decode");
  EXPECT_EQ(decode.provenance.inferences, 2u);
  std::map<std::pair<std::string, std::uint32_t>, std::size_t> ops;
  for (std::size_t row = 0; row < decode.spans.size(); ++row) {
    if (!is_window(decode, row)) continue;
    const Unit& unit = decode.units[index_of(decode.spans.unit[row])];
    ops[{std::string(decode.text(unit.name)), decode.spans.instance[row]}] += 1;
  }
  const std::map<std::pair<std::string, std::uint32_t>, std::size_t> expected{
      {{"HTP0", 1}, 10}, {{"HTP0", 2}, 10}, {{"HTP1", 1}, 11}, {{"HTP1", 2}, 11}};
  EXPECT_EQ(ops, expected);
}

TEST(Lines, AreLostOneByOne) {
  const GeneratedLog log = generate({.mode = 3});
  const auto count_of = [](const std::string& text) {
    const std::vector<Profile> profiles = profiles_of(text);
    std::uint64_t lost = 0;
    for (const Note& note : profiles.front().notes) {
      if (note.message.starts_with("lines that are cut")) lost += note.count;
    }
    return std::pair(windows_of(profiles).size(), lost);
  };
  const std::size_t all = count_of(log.text).first;
  const std::size_t at = log.text.find("profile-op MUL_MAT_NX");
  ASSERT_NE(at, std::string::npos);
  // The end of one is missing.
  const std::size_t end = log.text.find('\n', at);
  std::string cut = log.text;
  cut.erase(at + 60, end - at - 60);
  EXPECT_EQ(count_of(cut), std::pair(all - 1, std::uint64_t{1}));
  // Another begins in the midst of it.
  std::string mixed = log.text;
  mixed.erase(at + 60, end + 1 - at - 60);
  EXPECT_EQ(count_of(mixed), std::pair(all - 1, std::uint64_t{1}));
  // Another logger writes between two.
  std::string between = log.text;
  between.insert(end + 1, "srv  update_slots: all slots are idle\n");
  EXPECT_EQ(count_of(between), std::pair(all, std::uint64_t{0}));
}

// Of the line that begins a batch, or ends it: the ops after it are of a batch of their own.
TEST(Lines, ThatDivideBatchesMayBeMissing) {
  for (const auto& [generation, mark] : {std::pair{6, "OPBATCH"}, {4, "profile-batch"}}) {
    const GeneratedLog log = generate({.generation = generation, .decoded = 3});
    std::string text = log.text;
    std::size_t at = 0;
    for (int i = 0; i < 3; ++i) at = text.find(mark, at + 1);
    const std::size_t begin = text.rfind('\n', at) + 1;
    text.erase(begin, text.find('\n', at) + 1 - begin);
    const std::vector<Profile> profiles = profiles_of(text);
    ASSERT_EQ(profiles.size(), 2u);
    EXPECT_EQ(profiles[1].provenance.inferences, 3u);
    const std::vector<Window> windows = windows_of(profiles);
    std::size_t row = 0;
    for (const TrueBatch& batch : log.batches) {
      for (const TrueOp& op : batch.ops) {
        ASSERT_LT(row, windows.size());
        const auto [profile, span] = windows[row++];
        EXPECT_EQ(profile->spans.processor_cycles[span], std::int64_t(op.cycles));
        EXPECT_NEAR(double(profile->spans.duration[span]) / 1e6, double(op.cycles) / 2112, 0.5);
      }
    }
    EXPECT_EQ(row, windows.size());
  }
}

// A start of info 32768 and above is printed as a stop.
TEST(Events, ThatBeginAsStopsHaveAnEnd) {
  const std::string text =
      "ggml-hex: HTP0 profile-op OPBATCH|----|n-ops 1|evt-cnt "
      "2,0,0,0,0,0,0,0,0,0,0|----|----|usec 10 cycles 21000 start 1000 mhz 2100.0\n"
      "ggml-hex: HTP0 profile-op ADD|a x b -> c-0|8:1 x 8:1 -> 8:1|f32 x f32 -> f32|4:32 x 4:32 -> "
      "4:32|----|usec 9 cycles 20000 start 1100 mhz 2222.2\n"
      "ggml-hex: HTP0 trace-evt HVX_COMP: thread 0 info 7 stop 2000\n"
      "ggml-hex: HTP0 trace-evt HVX_COMP: thread 0 info 7 stop 9000\n";
  const auto source = open_byte_source(text, "file");
  const auto log = read_log(**source);
  ASSERT_TRUE(log);
  ASSERT_EQ(log->events.size(), 1u);
  EXPECT_EQ(log->events[0].start, 2'000);
  EXPECT_EQ(log->events[0].cycles, 7'000u);
  EXPECT_EQ(log->lost_events(), 0u);
}

// The order of fused products differs: weights, then the activation; or the activation second.
TEST(Operations, OperandsOfFusedProducts) {
  const auto nx = parse_operation(
      "MUL_MAT_NX|blk.3.ffn_gate.weight x blk.3.ffn_up.weight x ffn_norm-3 -> ffn_gate-3 x "
      "ffn_up-3|64:128 x 64:128 x 64:5 -> 128:5 x 128:5|q4_K x q6_K x f32 -> f32 x "
      "f32|1:1|hmx-tiled "
      "vtcm 8");
  ASSERT_TRUE(nx);
  EXPECT_EQ(nx->role, "ffn_gate+ffn_up");
  EXPECT_EQ(nx->layer, 3);
  EXPECT_EQ(nx->macs, 2 * 64 * 128 * 5);
  EXPECT_EQ(nx->weight_bytes, 64 * 128 * (5 + 7) / 8);
  EXPECT_EQ(nx->tokens, 5);
  const auto fused = parse_operation(
      "MUL_MAT+MUL_MAT|blk.3.attn_k.weight x attn_norm-3 x blk.3.attn_v.weight -> Vcur-3|64:16 x "
      "64:5 x 64:16 -> 16:5|q4_0 x f32 x q4_0 -> f32|1:1|hvx-tiled vtcm 8");
  ASSERT_TRUE(fused);
  EXPECT_EQ(fused->role, "attn_k+attn_v");
  EXPECT_EQ(fused->macs, 2 * 64 * 16 * 5);
  const auto experts = parse_operation(
      "MUL_MAT_ID|blk.0.ffn_up_exps.weight x ffn_norm-0 x topk-0 -> ffn_up-0|64:32:8:1 x 64:1:3:1 "
      "x "
      "2:3 -> 32:2:3:1|q8_0 x f32 x i32 -> f32|1:1|----");
  ASSERT_TRUE(experts);
  EXPECT_EQ(experts->macs, 64 * 32 * 6);
  EXPECT_EQ(experts->weight_bytes, 64 * 32 * 6 * 8.5 / 8);  // six of the eight at most
  EXPECT_EQ(experts->tokens, 3);
}

TEST(Operations, NamesMayHoldTheSeparator) {
  const auto read =
      parse_operation("ADD|a x b x c -> d-1|8:1 x 8:1 -> 8:1|f32 x f32 -> f32|1|----");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->inputs.size(), 2u);
  EXPECT_EQ(read->inputs[1].name, "b x c");
  // One that ends in blanks alone.
  const auto blank = parse_operation("ADD|a x b x   -> d-1|8:1 x 8:1 -> 8:1|f32 x f32|1|----");
  ASSERT_TRUE(blank);
  EXPECT_TRUE(blank->inputs[1].name.starts_with("b"));
  EXPECT_FALSE(parse_operation("ADD|a -> b|8:x -> 8:1|f32 -> f32|1|----"));
}

TEST(Times, WithoutTheWaitBelongToOtherOps) {
  std::string text = generate({.generation = 1}).text;
  const std::size_t at = text.find("call-usec ");
  text.replace(at, text.find('\n', at) - at, "call-usec 0");
  EXPECT_THAT(notes_of(profiles_of(text)), HasSubstr("GGML_HEXAGON_OPSYNC=1"));
}

TEST(Errors, SayWhatToDo) {
  const auto error_of = [](std::string_view text) {
    const auto source = open_byte_source(text, "file");
    const auto log = read_log(**source);
    return log ? std::string() : log.error().message;
  };
  EXPECT_THAT(error_of("ggml-hex: Hexagon Arch version v79\n"), HasSubstr("add -v"));
  EXPECT_THAT(
      error_of("ggml-hex: HTP0 MUL_MAT leaf_0 8:8:1:1 x a 8:1:1:1 -> b 8:1:1:1 : total 5053 "
               "us (quant 56 us, compute 4925 us, vtcm 68 us) cycles 1 pkts 1 (1.0) call 9 "
               "us\n"),
      HasSubstr("private form"));
}

// The case of llama.cpp's pull request 24592, whose counter wraps in its only op.
TEST(PublicCase, LogOfThePullRequest) {
  const std::vector<Profile> profiles = profiles_of(
      "0.01.576.635 D ggml-hex: HTP0 profile-op MUL_MAT: blk.0.q.weight x norm-0 -> Qcur-0 : "
      "3072:3072 x 3072:42 -> 3072:42 : q4_0 x f32 -> f32 : 1728:1728 x 4:12288 -> 4:12288 : usec "
      "891 cycles 1883599 start 4294900000\n"
      "0.01.576.640 D ggml-hex: HTP0 trace-op MUL_MAT: thread 0 event HVX_A_PREP info 0 start "
      "4294900100\n"
      "0.01.576.641 D ggml-hex: HTP0 trace-op MUL_MAT: thread 0 event HVX_A_PREP info 0 stop "
      "10000\n");
  ASSERT_EQ(profiles.size(), 1u);
  const Spans& spans = profiles[0].spans;
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans.processor_cycles[2], 10'000 + 4'294'967'296 - 4'294'900'100);
  EXPECT_NEAR(double(spans.duration[1]), 891.5e6, 700e3);
}

class OfSamples : public testing::TestWithParam<const char*> {};

// Truth that others wrote.
TEST_P(OfSamples, TimesLayersAndPhases) {
  const std::string folder = NPUSCOPE_SHARED_DIR "/data/ggml/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no samples";
  std::ifstream file(folder + GetParam() + ".truth.json");
  const auto truth = nlohmann::json::parse(file);
  std::string path = folder + GetParam() + ".log";
  if (!std::filesystem::exists(path)) path += ".gz";
  const auto source = open_byte_source(std::filesystem::path(path));
  ASSERT_TRUE(source);
  auto log = read_log(**source);
  ASSERT_TRUE(log);
  const std::vector<Profile> profiles = make_profiles(*log);
  const std::vector<Window> windows = windows_of(profiles);
  ASSERT_EQ(windows.size(), truth["ops"].size());
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const auto& op = truth["ops"][i];
    const auto [profile, row] = windows[i];
    const std::string node(profile->text(profile->ops[index_of(profile->spans.op[row])].node));
    const bool has_layer = !op["layer"].is_null();
    EXPECT_EQ(node.starts_with("blk."), has_layer) << node;
    if (has_layer) {
      EXPECT_THAT(node, testing::StartsWith(fmt::format("blk.{}.", op["layer"].get<int>())));
    }
    EXPECT_TRUE(op["phase"].get<std::string>().starts_with(profile->provenance.graph));
    EXPECT_EQ(profile->spans.processor_cycles[row], op["cycles"].get<std::int64_t>());
    EXPECT_NEAR(double(profile->spans.duration[row]) / 1e6 / op["us"].get<double>(), 1, 0.002);
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, OfSamples,
                         testing::Values("g0_p1", "g1_p1", "g2_p2", "g3_p1", "g4_p2", "g5_p1",
                                         "g6_p1", "g6_p2", "g6_p3"));

}  // namespace
}  // namespace npuscope::ggml::read_log_test
