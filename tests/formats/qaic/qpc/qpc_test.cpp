#include "formats/qaic/qpc/qpc.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <random>

#include "formats/qaic/damage.hpp"
#include "formats/qaic/qpc/qpc_layout.hpp"
#include "formats/qaic/qpc/sample_qpc.hpp"

namespace npuscope::qaic::qpc_test {
namespace {

using testing::HasSubstr;

std::vector<std::byte> bytes_of(std::string_view text) {
  const ByteSpan bytes = as_byte_span(text);
  return {bytes.begin(), bytes.end()};
}

QpcSegmentSource segment(std::string name, std::string_view content, std::uint64_t offset = 0) {
  return {std::move(name), bytes_of(content), offset};
}

// What both golden files hold.
std::vector<QpcSegmentSource> golden_segments() {
  return {segment("constants.bin", "STATCdyn", 5),
          segment("constantsdesc.bin", std::string_view("\5\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0"
                                                        "\0\0\0\0\0\0\0\0",
                                                        24)),
          segment("network.elf",
                  "\x7f"
                  "ELFdummy-elf-bytes"),
          segment("networkdesc.bin", "NWDESC"), segment("opstatsdesc.bin", "OPSTATSDESC")};
}

std::vector<std::byte> golden(const std::string& file) {
  const auto mapped = MappedFile::open(NPUSCOPE_TEST_DATA "/qaic/" + file);
  EXPECT_TRUE(mapped);
  return {mapped->bytes().begin(), mapped->bytes().end()};
}

std::vector<std::byte> container(const std::vector<QpcSegmentSource>& segments) {
  return *write_qpc(segments);
}

std::string error_of(const std::vector<std::byte>& bytes) {
  const auto qpc = read_qpc(bytes, "a.qpc");
  return qpc ? "" : qpc.error().message;
}

// The packed golden file with one 64-bit field changed.
std::string error_with(std::size_t at, std::uint64_t value) {
  auto bytes = golden("tiny_file_writer.qpc");
  std::memcpy(bytes.data() + at, &value, sizeof value);
  return error_of(bytes);
}

constexpr std::size_t size_field = 8;
constexpr std::size_t base_field = 16;
constexpr std::size_t count_field = 24;
constexpr std::size_t images_field = 32;
constexpr std::size_t first_segment = 40;  // fields: size, offset, name, start
constexpr std::size_t second_segment = 72;
constexpr std::uint64_t huge = ~std::uint64_t{0};

class GoldenQpc : public testing::TestWithParam<const char*> {};

TEST_P(GoldenQpc, OfBothKnownWritersIsRead) {
  const auto bytes = golden(GetParam());
  const auto qpc = read_qpc(bytes, GetParam());
  ASSERT_TRUE(qpc) << qpc.error().message;
  const auto expected = golden_segments();
  ASSERT_EQ(qpc->segments.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(qpc->segments[i].name, expected[i].name);
    EXPECT_EQ(as_text(qpc->segments[i].bytes), as_text(expected[i].bytes));
    EXPECT_EQ(qpc->segments[i].offset, expected[i].offset);
    EXPECT_FALSE(qpc->segments[i].is_qpc());
  }
  EXPECT_EQ(qpc->major_version, 0);
  EXPECT_EQ(qpc->minor_version, 1);
  EXPECT_EQ(as_text(qpc->find("networkdesc.bin")->bytes), "NWDESC");
  EXPECT_EQ(qpc->find("nothing"), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Writers, GoldenQpc,
                         testing::Values("tiny_inmemory_writer.qpc", "tiny_file_writer.qpc"),
                         [](const auto& file) { return std::string(file.param).substr(5, 4); });

TEST(Qpc, IsWrittenLikeTheInMemoryWriterDoes) {
  const auto expected = golden("tiny_inmemory_writer.qpc");
  EXPECT_EQ(write_qpc_at(golden_segments(), QpcVariant::in_memory, 0x55ea52e1e630), expected);
}

TEST(Qpc, IsWrittenLikeTheFileWriterDoes) {
  EXPECT_EQ(write_qpc(golden_segments(), QpcVariant::file), golden("tiny_file_writer.qpc"));
}

TEST(Qpc, IsWrittenWithBaseZeroUnlessTold) {
  const auto bytes = container(golden_segments());
  EXPECT_EQ(read_qpc(bytes, "a.qpc")->base, 0u);
  EXPECT_EQ(bytes.size(), golden("tiny_inmemory_writer.qpc").size());
}

TEST(Qpc, RandomContainersAreReadBackAsWritten) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    std::vector<QpcSegmentSource> segments;
    for (std::size_t count = random() % 6; count > 0; --count) {
      segments.push_back(segment(std::to_string(count) + std::string(random() % 250, 'n'),
                                 std::string(random() % 40, 'd'), random()));
    }
    const auto variant = random() % 2 == 0 ? QpcVariant::in_memory : QpcVariant::file;
    const auto bytes = write_qpc_at(segments, variant, random() % 3 * 0x1000);
    ASSERT_TRUE(bytes);
    const auto qpc = read_qpc(*bytes, "a.qpc");
    ASSERT_TRUE(qpc) << qpc.error().message;
    ASSERT_EQ(qpc->segments.size(), segments.size());
    for (std::size_t s = 0; s < segments.size(); ++s) {
      EXPECT_EQ(qpc->segments[s].name, segments[s].name);
      EXPECT_EQ(as_text(qpc->segments[s].bytes), as_text(segments[s].bytes));
      EXPECT_EQ(qpc->segments[s].offset, segments[s].offset);
    }
  }
}

TEST(Qpc, NamesThatCannotBeToldApartAreNotWritten) {
  EXPECT_EQ(write_qpc({segment("a", ""), segment("a", "")}).error().message,
            "two segments are named a; a QPC needs distinct names");
  EXPECT_FALSE(write_qpc({segment("", "")}));
  EXPECT_FALSE(write_qpc({segment(std::string("a\0b", 3), "")}));
  EXPECT_FALSE(write_qpc({segment(std::string(256, 'a'), "")}));
}

TEST(Qpc, ThatIsNoneIsRefused) {
  EXPECT_EQ(error_of(bytes_of("ELF")),
            "a.qpc: not a QPC: it does not begin with 7C CD A1 00; name a program container such "
            "as programqpc.bin");
  EXPECT_EQ(error_of({}), error_of(bytes_of("ELF")));
  auto bytes = golden("tiny_file_writer.qpc");
  bytes[6] = std::byte{0};
  EXPECT_EQ(error_of(bytes),
            "a.qpc: QPC compression type 0 at byte 6 is not supported, files have 1");
}

TEST(Qpc, WithWildPointersIsRefused) {
  EXPECT_EQ(error_with(size_field, 1000),
            "a.qpc: has 344 bytes but its QPC header says 1000; copy the file again");
  EXPECT_EQ(error_with(count_field, huge),
            "a.qpc: 304 bytes after byte 40 are too few for the 18446744073709551615 segments it "
            "claims");
  EXPECT_THAT(error_with(count_field, (huge >> 5) + 1), HasSubstr("too few"));
  EXPECT_EQ(error_with(images_field, 5000),
            "a.qpc: segment table at 0x1388 lies outside the file (base 0x0, 344 bytes)");
  EXPECT_THAT(error_with(images_field, 0), HasSubstr("segment table at 0x0 lies outside"));
  EXPECT_THAT(error_with(base_field, 0x1000), HasSubstr("lies outside the file (base 0x1000"));
  EXPECT_EQ(error_with(first_segment, huge),
            "a.qpc: segment 0 (constants.bin) has 18446744073709551615 bytes at 0x114, outside the "
            "file (base 0x0, 344 bytes); copy the file again");
  EXPECT_THAT(error_with(first_segment + 24, huge), HasSubstr("outside the file"));
  EXPECT_EQ(error_with(first_segment + 16, 344),
            "a.qpc: name of segment 0 at 0x158 lies outside the file (base 0x0, 344 bytes)");
}

TEST(Qpc, WithANameThatDoesNotEndIsRefused) {
  auto bytes = container({segment("network.elf", std::string(400, 'x'))});
  std::memset(bytes.data() + 72, 'y', 16);
  EXPECT_EQ(error_of(bytes),
            "a.qpc: name of segment 0 at byte 72 is empty or does not end within 256 bytes");
  EXPECT_THAT(error_with(first_segment + 16, 343), HasSubstr("does not end within 1 bytes"));
}

TEST(Qpc, WithPartsThatOverlapIsRefused) {
  EXPECT_EQ(error_with(second_segment + 24, 0x115),
            "a.qpc: segment constants.bin and segment constantsdesc.bin overlap at byte 277; the "
            "writer is at fault");
  EXPECT_THAT(error_with(first_segment + 24, 36),
              HasSubstr("the header and segment constants.bin"));
}

TEST(Qpc, WithTwoSegmentsOfOneNameIsRefused) {
  auto bytes = container({segment("aa", "1"), segment("ab", "2")});
  const auto name = as_text(bytes).find("ab");
  bytes[name + 1] = std::byte{'a'};
  EXPECT_EQ(error_of(bytes), "a.qpc: two segments are named aa; the writer is at fault");
}

TEST(Qpc, ThatContainsItselfIsImpossible) {
  auto bytes = container({segment("self", "x")});
  const std::uint64_t whole[4] = {bytes.size(), 0, 72, 0};
  std::memcpy(bytes.data() + first_segment, whole, sizeof whole);
  EXPECT_THAT(error_of(bytes), HasSubstr("overlap at byte 0"));
}

TEST(Qpc, TruncatedAnywhereIsRefused) {
  for (const char* file : {"tiny_inmemory_writer.qpc", "tiny_file_writer.qpc"}) {
    test::for_each_truncation(golden(file), [](const auto& bytes, std::size_t size) {
      EXPECT_NE(error_of(bytes), "") << size << " bytes";
    });
  }
}

TEST(Qpc, DamagedAnywhereIsAnErrorOrStaysInsideTheFile) {
  for (const char* file : {"tiny_inmemory_writer.qpc", "tiny_file_writer.qpc"}) {
    test::for_each_damaged_byte(golden(file), [](const auto& bytes, std::size_t at) {
      const auto qpc = read_qpc(bytes, "a.qpc");
      if (!qpc) return;
      for (const QpcSegment& found : qpc->segments) {
        EXPECT_LE(found.file_offset + found.bytes.size(), bytes.size()) << "byte " << at;
        EXPECT_FALSE(found.name.empty()) << "byte " << at;
      }
    });
  }
}

// `depth` containers around one that holds a network descriptor.
std::vector<std::byte> nested(int depth) {
  auto bytes = container({segment("networkdesc.bin", "d")});
  for (int i = 0; i < depth; ++i) bytes = container({{"in", bytes, 0}});
  return bytes;
}

TEST(QpcPrograms, OfThisReleaseAreTheBytesOfEveryRelease) {
  EXPECT_EQ(test::multi_device_qpc(), golden("two_devices.qpc"));
}

TEST(QpcPrograms, AreFoundInNestedContainers) {
  const auto slice = [](const char* text) { return container({segment("networkdesc.bin", text)}); };
  const auto bytes = container({segment("mdp_meta_info", "m"),
                                {"QAicGraph_slice00", slice("zero"), 0},
                                {"QAicGraph_slice01", slice("one"), 0}});
  const auto programs = find_programs(bytes, "a.qpc");
  ASSERT_TRUE(programs) << programs.error().message;
  ASSERT_EQ(programs->size(), 2u);
  EXPECT_EQ((*programs)[0].path, "QAicGraph_slice00");
  EXPECT_EQ((*programs)[1].path, "QAicGraph_slice01");
  EXPECT_EQ(as_text((*programs)[1].qpc.find("networkdesc.bin")->bytes), "one");
}

TEST(QpcPrograms, AreFoundAtMostEightDeep) {
  ASSERT_TRUE(find_programs(nested(8), "a.qpc"));
  EXPECT_EQ((*find_programs(nested(8), "a.qpc"))[0].path, "in/in/in/in/in/in/in/in");
  EXPECT_EQ(find_programs(nested(9), "a.qpc").error().message,
            "a.qpc/in/in/in/in/in/in/in/in/in: containers are nested more than 8 deep; extract the "
            "inner one first");
}

TEST(QpcPrograms, BrokenOnesAreNamedByTheirPath) {
  auto inner = nested(0);
  inner.pop_back();
  const auto bytes = container({{"slice", inner, 0}});
  EXPECT_THAT(find_programs(bytes, "a.qpc").error().message,
              HasSubstr("a.qpc/slice: has 95 bytes but its QPC header says 96"));
}

TEST(QpcPrograms, DamagedAnywhereAreAnErrorOrStayInsideTheFile) {
  test::for_each_damaged_byte(nested(2), [](const auto& bytes, std::size_t at) {
    const auto programs = find_programs(bytes, "a.qpc");
    if (!programs) return;
    for (const QpcProgram& program : *programs) {
      const ByteSpan found = program.qpc.find(segment_network_descriptor)->bytes;
      EXPECT_GE(found.data(), bytes.data()) << "byte " << at;
      EXPECT_LE(found.data() + found.size(), bytes.data() + bytes.size()) << "byte " << at;
    }
  });
}

}  // namespace
}  // namespace npuscope::qaic::qpc_test
