#include "formats/sigmastar/log.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

namespace npuscope::sigmastar::log_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const LogLayout reference = *layout_of_chip("ipu-muffin");

// Times in bits 5 to 28 of records of 5 bytes behind a header, one code for engine and mark.
constexpr const char* odd_layout = R"(
name = "odd"
chips = []
[record]
bytes = 5
header_bytes = 3
[fields]
time = { bit = 5, bits = 24 }
layer = { bit = 29, bits = 7 }
engine = { bit = 0, bits = 4 }
mark = { bit = 0, bits = 4 }
[time]
cycles_per_tick = 4
cores_share_clock = false
[marks]
begin = [1, 3]
end = [2, 4]
[engines]
layer = [1, 2]
conv = [3, 4]
)";

struct Written {
  LogEngine engine;
  LogMark mark;
  std::uint32_t layer;
  std::uint64_t cycles;
};

constexpr LogMark begin = LogMark::begin, end = LogMark::end;
constexpr LogEngine layer = LogEngine::layer, conv = LogEngine::conv, load = LogEngine::dma_load;

std::string log_of(const std::vector<Written>& records, const LogLayout& layout = reference,
                   std::uint64_t buffer = default_log_bytes) {
  LogWriter log(layout, buffer);
  for (const Written& each : records) log.write(each.engine, each.mark, each.layer, each.cycles);
  return log.bytes();
}

Result<CoreLog> decode(const std::string& bytes, const LogLayout& layout = reference) {
  return decode_log(as_byte_span(bytes), layout, "log_core0.bin");
}

const std::vector<Written> two_layers{
    {load, begin, 0, 90},  {layer, begin, 0, 100}, {load, end, 0, 105},  {conv, begin, 0, 110},
    {load, begin, 1, 130}, {conv, end, 0, 180},    {layer, end, 0, 200}, {layer, begin, 1, 200},
    {load, end, 1, 210},   {conv, begin, 1, 210},  {conv, end, 1, 290},  {layer, end, 1, 300}};

TEST(IpuLog, LayersAndWhatEnginesDidInThem) {
  const auto log = decode(log_of(two_layers));
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ(log->records, 12u);
  EXPECT_EQ(log->first_ticks, 90u);
  ASSERT_EQ(log->layers.size(), 2u);
  EXPECT_EQ(log->layers[0].begin, 10);
  EXPECT_EQ(log->layers[0].end, 110);
  EXPECT_EQ(log->layers[0].busy[std::size_t(conv)], 70);
  EXPECT_EQ(log->layers[0].busy[std::size_t(load)], 75);  // 5 and 70
  EXPECT_EQ(log->layers[1].busy[std::size_t(load)], 10);
  EXPECT_EQ(log->intervals.size(), 6u);
  EXPECT_THAT(problems_of(*log, 192, default_log_bytes), IsEmpty());
}

// Any engines and layers, also such as overlap one another: the same as counting cycle by cycle.
TEST(IpuLog, TheLoadOfTheNextLayerMadePercentagesOfOverAHundred) {
  std::mt19937 random(8);
  for (int round = 0; round < 60; ++round) {
    std::vector<Written> records;
    for (std::uint32_t id = 0; id < 30; ++id) {
      const LogEngine engine = id % 3 == 0 ? layer : id % 3 == 1 ? conv : load;
      const std::uint64_t first = random() % 300, last = first + random() % 40;
      records.push_back({engine, begin, id, first});
      records.push_back({engine, end, id, last});
    }
    std::stable_sort(records.begin(), records.end(),
                     [](const Written& a, const Written& b) { return a.cycles < b.cycles; });
    const auto log = decode(log_of(records));
    ASSERT_TRUE(log);
    for (const LogLayer& each : log->layers) {
      for (const LogEngine engine : {conv, load}) {
        std::int64_t expected = 0;
        for (std::int64_t cycle = each.begin; cycle < each.end; ++cycle) {
          expected += std::any_of(
              log->intervals.begin(), log->intervals.end(), [&](const LogInterval& work) {
                return work.engine == engine && work.begin <= cycle && cycle < work.end;
              });
        }
        EXPECT_EQ(each.busy[std::size_t(engine)], expected) << round << ", layer " << each.layer;
        EXPECT_LE(each.busy[std::size_t(engine)], each.end - each.begin);
      }
    }
  }
}

TEST(IpuLog, ALayoutOfAnotherShape) {
  const auto layout = parse_layout(odd_layout, "odd.toml");
  ASSERT_TRUE(layout) << layout.error().message;
  std::vector<Written> records;
  for (const Written& each : two_layers) {
    if (each.engine != load)
      records.push_back({each.engine, each.mark, each.layer, each.cycles * 4});
  }
  const std::string bytes = log_of(records, *layout);
  EXPECT_EQ(bytes.size(), 3 + 5 * records.size());
  const auto log = decode(bytes, *layout);
  ASSERT_TRUE(log) << log.error().message;
  ASSERT_EQ(log->layers.size(), 2u);
  EXPECT_EQ(log->layers[1].begin, 400);
  EXPECT_EQ(log->layers[1].busy[std::size_t(conv)], 320);
}

TEST(IpuLog, AClockThatWraps) {
  const std::uint64_t max = 0xffffffff;
  const auto log = decode(log_of({{layer, begin, 0, max - 10},
                                  {layer, end, 0, max + 20},
                                  {layer, begin, 1, max + 30},
                                  {layer, end, 1, 2 * max + 1}}));
  ASSERT_TRUE(log);
  EXPECT_EQ(log->backwards, 1u);  // more than half the range ahead cannot be told from behind
  EXPECT_EQ(log->layers[0].end, 30);
  EXPECT_EQ(log->layers[1].begin, 40);
}

TEST(IpuLog, ABufferThatWasTooSmall) {
  const std::string bytes = log_of(two_layers, reference, 7 * 16 + 8);
  EXPECT_EQ(bytes.size(), 7 * 16u);
  const auto log = decode(bytes);
  ASSERT_TRUE(log);
  EXPECT_EQ(log->unclosed, 1u);
  EXPECT_THAT(problems_of(*log, bytes.size(), 7 * 16 + 8),
              ElementsAre(HasSubstr("log again with a larger --ipu_log_size")));
  EXPECT_THAT(problems_of(*log, bytes.size(), default_log_bytes),
              ElementsAre(HasSubstr("was the buffer too small, or the file cut?")));
  const auto full = decode(log_of(two_layers));
  EXPECT_THAT(problems_of(*full, 192, 192), ElementsAre(HasSubstr("perhaps incomplete")));
}

TEST(IpuLog, LostAndStrangeRecords) {
  std::string bytes = log_of(two_layers);
  bytes.erase(3 * 16, 16);         // the begin of a conv
  bytes[8 * 16 + 6] = char(0xff);  // another record's engine and mark
  const auto log = decode(bytes + "12345");
  ASSERT_TRUE(log);
  EXPECT_EQ(log->lost, 2u);
  EXPECT_EQ(log->unopened, 2u);
  EXPECT_EQ(log->invalid, 1u);
  EXPECT_EQ(log->partial_bytes, 5u);
  EXPECT_EQ(problems_of(*log, bytes.size(), default_log_bytes).size(), 4u);
}

TEST(IpuLog, ErrorsSayWhatToDo) {
  EXPECT_THAT(decode("").error().message, HasSubstr("log_core0.bin: an empty file"));
  EXPECT_THAT(decode("cut").error().message, HasSubstr("not even one record"));
  EXPECT_THAT(decode(std::string(160, '\0')).error().message,
              HasSubstr("10 of 10 records are none of the layout 'reference'"));
}

TEST(IpuLog, CutAnywhere) {
  const std::string whole = log_of(two_layers);
  for (std::size_t length = 16; length < whole.size(); ++length) {
    const std::string cut = whole.substr(0, length);  // its own allocation, so that sanitizers see
    const auto log = decode(cut);
    ASSERT_TRUE(log);
    EXPECT_EQ(log->records, length / 16);
    EXPECT_NE(problems_of(*log, length, default_log_bytes).size(), 0u) << length;
  }
}

// Against pairing by hand: each begin with the next end of the same engine and layer.
TEST(IpuLog, AgreesWithTheObviousWayOnRandomLogs) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Written> records;
    std::vector<LogInterval> expected;
    std::uint64_t now = random();
    const std::uint64_t first = now;
    const int count = 1 + int(random() % 40);
    for (int i = 0; i < count; ++i) {
      const auto engine = LogEngine(random() % 6);
      const std::uint64_t length = random() % 1000;
      records.push_back({engine, begin, std::uint32_t(i), now});
      records.push_back({engine, end, std::uint32_t(i), now + length});
      expected.push_back({std::int64_t(now - first), std::int64_t(now - first + length),
                          std::uint32_t(i), engine});
      now += random() % 100'000'000;
    }
    const auto log = decode(log_of(records));
    ASSERT_TRUE(log);
    ASSERT_EQ(log->intervals.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(log->intervals[i].begin, expected[i].begin);
      EXPECT_EQ(log->intervals[i].end, expected[i].end);
      EXPECT_EQ(log->intervals[i].layer, expected[i].layer);
      EXPECT_EQ(log->intervals[i].engine, expected[i].engine);
    }
  }
}

TEST(IpuLog, AnyBytes) {
  std::mt19937 random(3);
  const auto odd = parse_layout(odd_layout, "odd.toml");
  for (int round = 0; round < 500; ++round) {
    std::string bytes(random() % 2000, '\0');
    for (char& c : bytes) c = char(random());
    for (std::size_t at = 6; at < bytes.size(); at += 16) bytes[at] = char(random() % 6 | 0x10);
    if (const auto log = decode(bytes)) {
      EXPECT_LE(log->intervals.size(), log->records);
    }
    if (const auto log = decode(bytes, *odd)) {
      EXPECT_LE(log->intervals.size(), log->records);
    }
  }
}

TEST(LogLayout, ChipsWithoutAPublicLayoutAreToldWhatWorks) {
  const auto muffin = layout_of_chip("muffin");
  ASSERT_FALSE(muffin);
  EXPECT_EQ(muffin.error().kind, ErrorKind::usage);
  EXPECT_THAT(muffin.error().message, HasSubstr("the layout of this chip's IPU log is not public"));
  EXPECT_THAT(muffin.error().message, HasSubstr("performance_timeline.py"));
  EXPECT_THAT(layout_of_chip("brownie").error().message, HasSubstr("no chip that npuscope knows"));
}

TEST(LogLayout, ErrorsNameTheEntry) {
  const auto error = [](std::string from, std::string to) {
    std::string text = odd_layout;
    text.replace(text.find(from), from.size(), to);
    const auto layout = parse_layout(text, "odd.toml");
    return layout ? "" : layout.error().message;
  };
  EXPECT_THAT(error("bytes = 5", "bytes = 0"), HasSubstr("odd.toml:5: 'record.bytes' must be"));
  EXPECT_THAT(error("bits = 24", "bits = 60"), HasSubstr("'fields.time' must be within"));
  EXPECT_THAT(error("bit = 29", "bit = 39"), HasSubstr("'fields.layer' must be within the record"));
  EXPECT_THAT(error("begin = [1, 3]", "begin = 99"), HasSubstr("'marks.begin' must be"));
  EXPECT_THAT(error("layer = [1, 2]", "ayer = 1"), HasSubstr("'engines.layer' is missing"));
  EXPECT_THAT(error("name = ", "= "), HasSubstr("odd.toml:2:"));
}

TEST(LogLayout, TilesNeedAFieldAnOrderAndRoom) {
  const auto error = [](const std::string& field, const std::string& tiles) {
    std::string text = odd_layout;
    text.replace(text.find("[time]"), 0, field);
    const auto layout = parse_layout(text + tiles, "odd.toml");
    return layout ? "" : layout.error().message;
  };
  const std::string field = "tile = { bit = 36, bits = 4 }\n";
  const std::string tiles = "[tiles]\norder = [\"conv\"]\nbuffers = 1\n";
  EXPECT_EQ(error(field, tiles), "");
  EXPECT_THAT(error("", tiles), HasSubstr("is about, is missing"));
  EXPECT_THAT(error(field, "[tiles]\norder = [\"conv\"]\n"), HasSubstr("tiles.buffers"));
  EXPECT_THAT(error(field, "[tiles]\norder = [\"layer\"]\nbuffers = 1\n"),
              HasSubstr("'tiles.order' must be a list of engines"));
  EXPECT_THAT(error(field, "[tiles]\norder = [\"conv\", \"conv\"]\nbuffers = 1\n"),
              HasSubstr("each once"));
  EXPECT_THAT(error("tile = { bit = 20, bits = 17 }\n", tiles), HasSubstr("from 1 to 16"));
}

}  // namespace
}  // namespace npuscope::sigmastar::log_test
