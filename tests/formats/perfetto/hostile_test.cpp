// Traces that are cut, flipped, forged or no traces: what can be kept is kept and the rest is told;
// nothing crashes, hangs or takes memory without bound.
#include <gtest/gtest.h>

#include <random>

#include "formats/perfetto/profile_text.hpp"
#include "formats/perfetto/random_profile.hpp"
#include "formats/perfetto/read/read.hpp"
#include "formats/perfetto/trace_builder.hpp"
#include "npuscope/formats/perfetto/write.hpp"
#include "sanitized.hpp"

namespace npuscope::perfetto::hostile_test {
namespace {

using test::Message;
using test::message;
using test::TraceBuilder;

std::string sample_trace(std::uint32_t spans = 60) {
  const Profile profile = test::random_profile({.seed = 7, .spans = spans, .accelerator = true});
  const Profile* profiles[] = {&profile};
  std::string bytes;
  write_trace(profiles, [&](std::string_view piece) { bytes += piece; });
  return bytes;
}

// Where packets end, by a walk of its own.
std::vector<std::size_t> packet_ends(std::string_view trace) {
  std::vector<std::size_t> ends{0};
  protozero::pbf_reader reader(trace.data(), trace.size());
  while (reader.next()) {
    const auto view = reader.get_view();
    ends.push_back(std::size_t(view.data() + view.size() - trace.data()));
  }
  return ends;
}

Result<Profile> try_to_read(std::string_view trace, ReadOptions options = {}) {
  // A copy of its own, so that a sanitizer sees a read past its end.
  const std::vector<char> copy(trace.begin(), trace.end());
  const auto source = open_byte_source(std::string_view(copy.data(), copy.size()), "damaged");
  return read_profile(**source, options);
}

// Whether the tables refer to nothing that is not there.
void expect_sound(const Profile& profile) {
  const Spans& spans = profile.spans;
  ASSERT_EQ(spans.op.size(), spans.size());
  ASSERT_EQ(spans.kind.size(), spans.size());
  ASSERT_EQ(spans.start.size(), spans.size());
  ASSERT_EQ(spans.duration.size(), spans.size());
  for (std::size_t row = 0; row < spans.size(); ++row) {
    ASSERT_LT(index_of(spans.unit[row]), profile.units.size());
    ASSERT_LT(index_of(spans.op[row]), profile.ops.size());
    ASSERT_LE(spans.kind[row], SpanKind::instant);
    ASSERT_GE(spans.duration[row], 0);
  }
  const Arguments& arguments = spans.arguments;
  if (!arguments.empty()) {
    ASSERT_EQ(arguments.size(), spans.size());
    for (std::size_t row = 0; row < spans.size(); ++row) {
      ASSERT_LT(arguments.shape(row), arguments.shapes.size());
    }
  }
  for (const Flow& flow : profile.flows) {
    ASSERT_LT(index_of(flow.from), spans.size());
    ASSERT_LT(index_of(flow.to), spans.size());
  }
  for (std::size_t i = 0; i < profile.counters.size(); ++i) {
    ASSERT_LT(profile.counters.of[i], profile.counters.series.size());
  }
  for (std::uint32_t unit = 0; unit < profile.units.size(); ++unit) {
    std::size_t above = 0;
    for (UnitId at{unit}; at != UnitId::none; at = profile.units[index_of(at)].parent) {
      ASSERT_LE(++above, profile.units.size());
    }
  }
}

TEST(PerfettoHostile, KeepsAllWholePacketsBeforeACut) {
  const std::string whole = sample_trace(30);
  const auto ends = packet_ends(whole);
  std::size_t expected_of = 0;
  std::string expected;  // of the packets up to there
  for (std::size_t size = 1; size < whole.size(); ++size) {
    if (!test_support::takes(size)) continue;
    const auto before = std::upper_bound(ends.begin(), ends.end(), size) - 1;
    const auto cut = try_to_read(std::string_view(whole).substr(0, size));
    if (*before == 0) {
      ASSERT_FALSE(cut);
      continue;
    }
    ASSERT_TRUE(cut) << "cut at " << size;
    expect_sound(*cut);
    if (*before != expected_of) {
      expected_of = *before;
      const auto upto = try_to_read(std::string_view(whole).substr(0, *before));
      ASSERT_TRUE(upto);
      expected = test::text_of(*upto);
    }
    std::string text = test::text_of(*cut);
    if (*before != size) {
      const std::string told = fmt::format(
          "note at {}: 1 x the trace ends in the middle of a packet, the last {} bytes of which "
          "are here; copy the file again or record it to its end\n",
          *before, size - *before);
      ASSERT_NE(text.find(told), text.npos) << text;
      text.erase(text.find(told), told.size());
    }
    ASSERT_EQ(text, expected) << "cut at " << size;
  }
}

TEST(PerfettoHostile, SurvivesEveryFlippedBit) {
  std::string bytes = sample_trace(12);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const char original = bytes[at];
    for (std::size_t bit = 0; bit < 8; ++bit) {
      if (!test_support::takes(at + bit)) continue;
      bytes[at] = char(original ^ (1 << bit));
      if (const auto profile = try_to_read(bytes)) expect_sound(*profile);
    }
    bytes[at] = original;
  }
}

TEST(PerfettoHostile, SurvivesManyFlippedBits) {
  std::mt19937 random(11);
  const std::string whole = sample_trace(40);
  for (std::uint64_t round = 0; round < test_support::rounds(3000); ++round) {
    std::string bytes = whole;
    for (std::uint32_t i = 1 + random() % 30; i > 0; --i) {
      bytes[random() % bytes.size()] = char(random());
    }
    if (const auto profile = try_to_read(bytes)) expect_sound(*profile);
  }
}

// Messages of every number and type, nested at random: reaches what a written trace never has.
void add_random_fields(std::mt19937& random, Message& parent, int depth) {
  static constexpr std::uint32_t fields[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                             13, 16, 17, 18, 19, 22, 23, 29, 30, 31, 34, 36,
                                             41, 42, 43, 44, 45, 46, 47, 48, 52, 58, 59, 60};
  for (std::uint32_t i = random() % 6; i > 0; --i) {
    const std::uint32_t field = fields[random() % std::size(fields)];
    switch (random() % 6) {
      case 0: parent.add_uint64(field, random() % 4); break;
      case 1: parent.add_uint64(field, std::uint64_t(random()) << (random() % 40)); break;
      case 2: parent.add_fixed64(field, random()); break;
      case 3: parent.add_string(field, random() % 2 == 0 ? "text" : "{\"a\": 1}"); break;
      default:
        if (depth > 0) {
          message(parent, field,
                  [&](Message& child) { add_random_fields(random, child, depth - 1); });
        }
    }
  }
}

TEST(PerfettoHostile, SurvivesRandomMessages) {
  std::mt19937 random(12);
  for (int round = 0; round < 3000; ++round) {
    TraceBuilder trace;
    for (int packet = 0; packet < 20; ++packet) {
      trace.packet([&](Message& fields) {
        if (random() % 2 == 0) fields.add_uint64(8, random() % 100);
        const std::uint32_t contents[] = {6, 11, 11, 11, 12, 43, 44, 59, 60, 60};
        message(fields, contents[random() % std::size(contents)],
                [&](Message& child) { add_random_fields(random, child, 4); });
      });
    }
    if (const auto profile = try_to_read(trace.bytes())) expect_sound(*profile);
  }
}

TEST(PerfettoHostile, GoesOnAfterBytesThatAreNoPackets) {
  TraceBuilder before, after;
  before.track(7, "main").begin(1, 7, "a").end(2, 7);
  after.begin(3, 7, "b").end(4, 7).begin(5, 7, "c").end(6, 7);
  const std::string garbage = "\x0Bnot a packet at all\xFF\xFF\x0A\xFF\x01";
  EXPECT_EQ(test::read_as_text(before.bytes() + garbage + after.bytes()),
            "track main\n"
            "1 +1 slice on main: a\n"
            "3 +1 slice on main: b\n"
            "5 +1 slice on main: c\n"
            "note at 41: 1 x 25 bytes are not packets and were skipped\n");
}

TEST(PerfettoHostile, GoesOnAfterALengthThatIsWrong) {
  TraceBuilder before, after;
  before.track(7, "main").begin(1, 7, "a");
  after.end(2, 7).begin(3, 7, "b").end(4, 7).begin(5, 7, "c").end(6, 7);
  std::string bytes = before.bytes();
  const std::size_t broken = bytes.size();
  bytes += TraceBuilder().instant(1, 7, "lost").bytes();
  bytes[broken + 1] = 100;  // far into the packets that follow
  const Profile profile = test::read(bytes + after.bytes());
  EXPECT_EQ(profile.spans.size(), 3u);
  ASSERT_EQ(profile.notes.size(), 1u);
  EXPECT_EQ(profile.notes[0].offset, broken);
}

TEST(PerfettoHostile, RefusesAPacketThatClaimsTerabytes) {
  TraceBuilder trace;
  trace.track(7, "main").instant(1, 7, "x");
  const std::string claim = "\x0A\xFF\xFF\xFF\xFF\xFF\x7F and no more";
  const auto profile = try_to_read(trace.bytes() + claim);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->spans.size(), 1u);
  ASSERT_EQ(profile->notes.size(), 1u);
  EXPECT_EQ(profile->notes[0].severity, Severity::error);
  EXPECT_EQ(profile->notes[0].offset, trace.bytes().size());
}

TEST(PerfettoHostile, BoundsWhatCompressedPacketsHold) {
  TraceBuilder inner;
  inner.track(7, "main");
  for (int i = 0; i < 10'000; ++i) inner.instant(1, 7, "x");
  TraceBuilder trace;
  for (int i = 0; i < 10; ++i) {
    trace.packet(
        [&](Message& packet) { packet.add_bytes(50, test::zlib_compressed(inner.bytes())); });
  }
  ReadOptions options;
  options.decompressed_limit = inner.bytes().size() / 2;
  const auto profile = try_to_read(trace.bytes(), options);
  ASSERT_TRUE(profile);
  EXPECT_NEAR(double(profile->spans.size()), 5000, 10);
  EXPECT_NE(test::text_of_notes(*profile).find("10 x compressed packets hold more than the limit"),
            std::string::npos);
}

TEST(PerfettoHostile, KeepsWhatCameOutOfABrokenCompressedPacket) {
  TraceBuilder inner;
  inner.track(7, "main");
  for (int i = 0; i < 1000; ++i) inner.instant(std::uint64_t(i * i), 7, std::to_string(i * 7919));
  for (const std::string& packed :
       {test::zlib_compressed(inner.bytes()), test::zstd_compressed(inner.bytes())}) {
    const bool is_zlib = packed[0] == 'x';
    TraceBuilder trace;
    trace.track(7, "main").packet([&](Message& packet) {
      packet.add_bytes(is_zlib ? 50 : 133, packed.substr(0, packed.size() / 2));
    });
    trace.instant(9'000'000, 7, "after");
    const auto profile = try_to_read(trace.bytes());
    ASSERT_TRUE(profile);
    EXPECT_GE(profile->spans.size(), 1u);
    if (is_zlib) {
      EXPECT_GT(profile->spans.size(), 100u);
    }
    EXPECT_NE(test::text_of_notes(*profile).find("compressed packets are broken"),
              std::string::npos);
  }
}

TEST(PerfettoHostile, LeavesCompressedPacketsInCompressedPacketsOut) {
  std::string bytes = TraceBuilder().track(7, "main").instant(1, 7, "deep").bytes();
  for (int level = 0; level < 20; ++level) {
    bytes = TraceBuilder()
                .packet([&](Message& p) { p.add_bytes(50, test::zlib_compressed(bytes)); })
                .bytes();
  }
  const auto profile = try_to_read(bytes);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->spans.size(), 0u);
  EXPECT_EQ(test::text_of_notes(*profile),
            "note at 0: 1 x compressed packets within compressed packets were left out\n");
}

TEST(PerfettoHostile, CutsAnnotationsThatNestTooDeep) {
  std::string value;
  for (int depth = 0; depth < 10'000; ++depth) {
    std::string outer;
    Message(outer).add_message(12, value);
    value = std::move(outer);
  }
  TraceBuilder trace;
  trace.track(7, "main").event(1, 7, 3, [&](Message& event) {
    message(event, 4, [&](Message& annotation) {
      annotation.add_string(10, "deep");
      annotation.add_message(12, value);
    });
  });
  const auto profile = try_to_read(trace.bytes());
  ASSERT_TRUE(profile);
  EXPECT_NE(test::text_of_notes(*profile).find("nest deeper than 64 levels"), std::string::npos);
}

TEST(PerfettoHostile, ReadsAFileOfAnyKindOfZeros) {
  EXPECT_FALSE(try_to_read(""));
  EXPECT_FALSE(try_to_read(std::string(5000, '\0')));
  EXPECT_FALSE(try_to_read(std::string(5000, '\xFF')));
  const auto empty_packets = try_to_read(std::string_view("\x0A\x00\x0A\x00", 4));
  ASSERT_TRUE(empty_packets);
  EXPECT_EQ(empty_packets->spans.size(), 0u);
  // Newlines: packets of ten bytes of newlines, were it not for what is in them.
  EXPECT_FALSE(try_to_read(std::string(5000, '\n')));
}

TEST(PerfettoHostile, KeepsTimesInRange) {
  TraceBuilder trace;
  trace.track(7, "main");
  trace.instant(std::uint64_t(-1), 7, "beyond").instant(std::uint64_t{1} << 62, 7, "beyond too");
  trace.instant(5, 7, "fine");
  EXPECT_EQ(test::read_as_text(trace.bytes()),
            "track main\n"
            "5 +0 instant on main: fine\n"
            "note at 13: 2 x times beyond 73 years; events left out\n");
}

}  // namespace
}  // namespace npuscope::perfetto::hostile_test
