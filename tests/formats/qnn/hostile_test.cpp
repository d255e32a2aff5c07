// Files from dead devices and half-finished copies: never a crash, what is readable is kept, what
// is lost is noted.
#include <random>

#include "formats/qnn/generated_run.hpp"
#include "formats/qnn/read/json_text.hpp"
#include "formats/qnn/scratch_files.hpp"
#include "sanitized.hpp"

namespace npuscope::qnn::hostile_test {
namespace {

using test::GeneratedRun;

class QnnHostile : public test::ScratchFiles {
 protected:
  struct Sample {
    const char* name;
    Kind kind;
    std::string text;
  };
  std::vector<Sample> samples() const {
    const GeneratedRun run = test::small_run();
    return {{"trace.json", Kind::op_trace, test::op_trace_of(run)},
            {"run.json", Kind::run_trace, test::run_trace_of(run)},
            {"graph.json", Kind::htp_graph, test::htp_graph_of(run)},
            {"qhas.json", Kind::qhas, test::qhas_of(run)},
            {"profile.txt", Kind::viewer_text, test::viewer_text_of(run)},
            {"profile.csv", Kind::viewer_csv, test::viewer_csv_of(run)},
            {"profile.json", Kind::viewer_json, test::viewer_json_of(run)}};
  }

  // Reads it as what it was; ids of the profile lead somewhere.
  std::size_t read_whatever(const Sample& sample, std::string_view text) {
    const File file{write(sample.name, text).path, sample.kind};
    const auto sets = read_sets(std::vector{file});
    if (!sets) {
      EXPECT_NE(sets.error().message.find(sample.name), std::string::npos) << sets.error().message;
      return 0;
    }
    std::size_t rows = 0;
    for (const Profile& profile : sets->profiles) {
      check_ids(profile);
      rows += profile.spans.size() + profile.phases.size() + profile.ops.size() +
              profile.measures.size() + profile.tensors.size();
    }
    return rows;
  }

  static void check_ids(const Profile& profile) {
    const auto is_op = [&](OpId op) {
      return op == OpId::none || index_of(op) < profile.ops.size();
    };
    for (std::size_t i = 0; i < profile.spans.size(); ++i) {
      ASSERT_LT(index_of(profile.spans.unit[i]), profile.units.size());
      ASSERT_LT(index_of(profile.spans.op[i]), profile.ops.size());
      ASSERT_GE(profile.spans.duration[i], 0);
    }
    for (const MeasureColumn& measure : profile.spans.measures) {
      ASSERT_EQ(measure.values.size(), profile.spans.size());
    }
    if (!profile.spans.arguments.empty()) {
      ASSERT_EQ(profile.spans.arguments.size(), profile.spans.size());
    }
    for (const Edge& edge : profile.edges) ASSERT_TRUE(is_op(edge.from) && is_op(edge.to));
    for (const TensorUse& use : profile.tensor_uses) {
      ASSERT_LT(use.tensor, profile.tensors.size());
      ASSERT_TRUE(is_op(use.consumer));
    }
    for (const Phase& phase : profile.phases) {
      ASSERT_LT(index_of(phase.unit), profile.units.size());
    }
    for (const Flow& flow : profile.flows) {
      ASSERT_LT(index_of(flow.from), profile.spans.size());
      ASSERT_LT(index_of(flow.to), profile.spans.size());
    }
  }
};

TEST_F(QnnHostile, CutAtEveryByteKeepsWhatCameBefore) {
  for (const Sample& sample : samples()) {
    const std::size_t whole = read_whatever(sample, sample.text);
    ASSERT_GT(whole, 0u) << sample.name;
    std::size_t max = 0;
    for (std::size_t size = 0; size < sample.text.size(); ++size) {
      if (!test_support::takes(size)) continue;
      const std::size_t rows = read_whatever(sample, sample.text.substr(0, size));
      // What has been read once stays readable when more of the file is there; of a summary the
      // nodes are ops as long as no instance is.
      ASSERT_GE(rows + 12, max) << sample.name << " cut at " << size;
      max = std::max(max, rows);
    }
    ASSERT_GE(max + 12, whole) << sample.name;
  }
}

TEST_F(QnnHostile, ACutFileSaysSo) {
  for (const Sample& sample : samples()) {
    if (sample.kind == Kind::viewer_text || sample.kind == Kind::viewer_csv) continue;
    const std::string half = sample.text.substr(0, sample.text.size() * 9 / 10);
    const Profile profile = read_one({File{write(sample.name, half).path, sample.kind}});
    bool told = false;
    for (const Note& note : profile.notes) told |= note.severity != Severity::info;
    EXPECT_TRUE(told) << sample.name;
  }
}

TEST_F(QnnHostile, FlippedBitsNeverCrash) {
  std::mt19937 random(11);
  for (const Sample& sample : samples()) {
    for (std::uint64_t round = 0; round < test_support::rounds(1500); ++round) {
      std::string text = sample.text;
      const auto flips = 1 + random() % 4;
      for (std::uint32_t i = 0; i < flips; ++i) {
        text[random() % text.size()] ^= char(1u << random() % 8);
      }
      read_whatever(sample, text);
    }
  }
}

TEST_F(QnnHostile, EveryValueOfEveryOtherTypeIsPassedOver) {
  constexpr const char* values[] = {"null",    "true",  "\"text\"", "[]",
                                    "{}",      "-1",    "1e400",    "99999999999999999999",
                                    "[[1,2]]", "-1e18", "0.5",      "9223372036854775807"};
  std::size_t tried = 0;
  for (const Sample& sample : samples()) {
    if (sample.kind == Kind::viewer_text || sample.kind == Kind::viewer_csv) continue;
    // Each member's value is replaced in turn, up to the comma or bracket that ends it.
    for (std::size_t at = 0; (at = sample.text.find("\":", at)) != std::string::npos; at += 2) {
      std::size_t begin = at + 2;
      while (sample.text[begin] == ' ') ++begin;
      if (sample.text[begin] == '{') continue;
      const char open = sample.text[begin];
      const std::size_t end = open == '"'   ? sample.text.find('"', begin + 1) + 1
                              : open == '[' ? sample.text.find(']', begin) + 1
                                            : sample.text.find_first_of(",}]", begin);
      tried += 1;  // so that members differ in the values that are taken
      for (const char* value : values) {
        if (!test_support::takes(tried++)) continue;
        std::string text = sample.text;
        text.replace(begin, end - begin, value);
        read_whatever(sample, text);
      }
    }
  }
}

TEST_F(QnnHostile, LinesTakenOutTwiceOrSwappedNeverCrash) {
  std::mt19937 random(5);
  for (const Sample& sample : samples()) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < sample.text.size();) {
      const std::size_t end = std::min(sample.text.find('\n', begin), sample.text.size() - 1);
      lines.push_back(sample.text.substr(begin, end + 1 - begin));
      begin = end + 1;
    }
    for (std::uint64_t round = 0; round < test_support::rounds(200); ++round) {
      std::vector<std::string> mixed = lines;
      const std::size_t a = random() % mixed.size(), b = random() % mixed.size();
      if (round % 3 == 0) mixed.erase(mixed.begin() + std::ptrdiff_t(a));
      if (round % 3 == 1) mixed.insert(mixed.begin() + std::ptrdiff_t(a), mixed[b]);
      if (round % 3 == 2) std::swap(mixed[a], mixed[b]);
      std::string text;
      for (const std::string& line : mixed) text += line;
      read_whatever(sample, text);
    }
  }
}

TEST_F(QnnHostile, DepthBombsAndEmptyFilesAreErrors) {
  const std::string bomb = "{\"data\": " + std::string(100'000, '[');
  for (const Kind kind : {Kind::qhas, Kind::htp_graph, Kind::viewer_json, Kind::op_trace,
                          Kind::run_trace, Kind::viewer_text, Kind::viewer_csv}) {
    for (const std::string& text : {bomb, std::string(), std::string("{}"), std::string("[]"),
                                    std::string(1000, '\0'), std::string("{\"data\":")}) {
      const auto sets = read_sets(std::vector{File{write("file.json", text).path, kind}});
      EXPECT_FALSE(sets) << int(kind) << " " << text.substr(0, 20);
    }
  }
}

TEST_F(QnnHostile, BytesThatAreNotUtf8CostTheNameOnly) {
  std::string text = test::qhas_of(test::small_run());
  for (std::size_t at = 0; (at = text.find("MatMul_0", at)) != text.npos;) {
    text.replace(at, 8, "Mat\xFF\x01l_0");
  }
  const Profile profile = read_one({write("qhas.json", text)});
  EXPECT_EQ(profile.spans.size(), 3u);
  EXPECT_EQ(profile.text(profile.ops[0].node), "Mat? l_0");
  EXPECT_GT(test::noted(profile, "bytes are not UTF-8"), 0u);
  EXPECT_EQ(test::noted(profile, "control characters inside texts"), 1u);
}

// Absurd cycles saturate instead of overflowing.
TEST_F(QnnHostile, CyclesAtTheEdgeOf64BitsDoNotOverflow) {
  std::string text = test::qhas_of(test::small_run());
  for (const char* key : {"\"start_cycle\": ", "\"end_cycle\": ", "\"cycles\": "}) {
    for (std::size_t at = 0; (at = text.find(key, at)) != text.npos;) {
      at += std::string_view(key).size();
      text.replace(at, text.find_first_of(",}", at) - at, "9223372036854775807");
    }
  }
  const Profile profile = read_one({write("qhas.json", text)});
  EXPECT_EQ(profile.spans.size(), 3u);
}

TEST_F(QnnHostile, CloseJsonEndsWhatIsOpen) {
  EXPECT_EQ(close_json(R"({"a": [1, 2, {"b": "x,]}", "c)"), R"({"a": [1, 2, {"b": "x,]}"}]})");
  EXPECT_EQ(close_json(R"({"a": 1)"), "{}");
  EXPECT_EQ(close_json(R"({"a": [)"), R"({"a": []})");
  EXPECT_EQ(close_json(R"({"a": "\"", "b": 2)"), R"({"a": "\""})");
  EXPECT_EQ(close_json(R"({"a": 1})"), R"({"a": 1})");
  EXPECT_EQ(close_json(""), "");
  EXPECT_EQ(close_json(std::string(5000, '[')), std::string(1024, '[') + std::string(1024, ']'));
}

// A number in a name makes no units.
TEST_F(QnnHostile, CoresThatNoChipHasAreNotBelieved) {
  std::string text = test::run_trace_of(test::small_run());
  const std::size_t at = text.find("Core 0 Execs");
  text.replace(at, 6, "Core 4294967295");
  EXPECT_EQ(read_one({write("run.json", text)}).units.size(), 2u);
  text = test::op_trace_of(test::small_run());
  text.replace(text.find("Core 0 Overview"), 6, "Core 4294967295");
  EXPECT_EQ(read_one({write("trace.json", text)}).spans.size(), 3u);
}

TEST_F(QnnHostile, NotesAreCountedNotRepeated) {
  std::string text = test::qhas_of(test::random_run(1));
  for (std::size_t at = 0; (at = text.find("\"dram_read\": ", at)) != text.npos;) {
    at += 13;
    text.replace(at, text.find_first_of(",}", at) - at, "\"much\"");
  }
  const Profile profile = read_one({write("qhas.json", text)});
  std::size_t notes = 0;
  for (const Note& note : profile.notes) {
    if (note.message.find("\"dram_read\" is not a whole number") == std::string::npos) continue;
    ++notes;
    EXPECT_GT(note.count, 40u);
    EXPECT_GT(note.offset, 0u);
  }
  EXPECT_EQ(notes, 1u);
}

}  // namespace
}  // namespace npuscope::qnn::hostile_test
