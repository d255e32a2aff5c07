#include "base/sections.hpp"

#include <gmock/gmock.h>
#include <xxhash.h>

#include <array>
#include <functional>

#include "formats/qaic/damage.hpp"

namespace npuscope::sections_test {
namespace {

using testing::HasSubstr;

struct Point {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  bool operator==(const Point&) const = default;
};

constexpr std::array<Point, 3> points{{{1, 2}, {3, 4}, {5, 6}}};

std::vector<std::byte> sample() {
  SectionWriter writer("NPUTESTS", {3, 1});
  writer.add<Point>(1, 0, points);
  writer.add_text(2, 0, "hello");
  writer.add<Point>(1, 7, {});
  return writer.finish();
}

template <class T>
T read_at(const std::vector<std::byte>& bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// Overwrites the sample's bytes at `offset` and makes the table checksum right again, as a hostile
// writer would.
template <class T>
std::vector<std::byte> forged(std::size_t offset, T value) {
  auto bytes = sample();
  std::memcpy(bytes.data() + offset, &value, sizeof value);
  const auto count = read_at<std::uint32_t>(bytes, 12);
  std::vector<std::byte> covered(bytes.begin(), bytes.begin() + 24);
  const std::size_t table_end = std::min<std::size_t>(32 + std::size_t{40} * count, bytes.size());
  covered.insert(covered.end(), bytes.begin() + 32, bytes.begin() + std::ptrdiff_t(table_end));
  const std::uint64_t checksum = XXH3_64bits(covered.data(), covered.size());
  std::memcpy(bytes.data() + 24, &checksum, sizeof checksum);
  return bytes;
}

std::string error_of(const std::vector<std::byte>& bytes) {
  const auto reader = SectionReader::open(bytes, "NPUTESTS", 3, "a.bin");
  return reader ? "" : reader.error().message;
}

TEST(Sections, WrittenWhereTheyLieAreTheSameBytes) {
  SectionWriter writer("NPUTESTS", {3, 1});
  writer.add_room<Point>(1, 0, points.size());
  writer.add_text(2, 0, "hello");
  writer.add_room<Point>(1, 7, 0);
  std::vector<std::byte> bytes;
  writer.place(bytes);
  const auto rooms = writer.rooms<Point>(1, bytes);
  ASSERT_EQ(rooms.size(), 2u);
  EXPECT_TRUE(rooms[1].empty());
  std::ranges::copy(points, rooms[0].begin());
  writer.seal(bytes);
  EXPECT_EQ(bytes, sample());
}

TEST(Sections, ForgetsWhatIsCopied) {
  const auto bytes = sample();
  auto reader = SectionReader::open(bytes, "NPUTESTS", 3, "a.bin");
  ASSERT_TRUE(reader);
  std::size_t forgotten = 0;
  reader->forget_with([&](ByteSpan piece) { forgotten += piece.size(); });
  ASSERT_TRUE(reader->records<Point>(*reader->find(1)));
  EXPECT_EQ(forgotten, sizeof points);
}

TEST(Sections, LieWhereTheHeaderSays) {
  const auto bytes = sample();
  EXPECT_EQ(as_text(bytes).substr(0, 8), "NPUTESTS");
  EXPECT_EQ(read_at<std::uint16_t>(bytes, 8), 3);
  EXPECT_EQ(read_at<std::uint16_t>(bytes, 10), 1);
  EXPECT_EQ(read_at<std::uint32_t>(bytes, 12), 3u);
  EXPECT_EQ(read_at<std::uint64_t>(bytes, 16), bytes.size());
  const auto second = read_at<SectionEntry>(bytes, 32 + 40);
  EXPECT_EQ(second.kind, 2u);
  EXPECT_EQ(second.record_size, 1u);
  EXPECT_EQ(second.count, 5u);
  EXPECT_EQ(second.offset, 32 + 3 * 40 + sizeof points);
  EXPECT_EQ(as_text(bytes).substr(second.offset, 8), std::string_view("hello\0\0\0", 8));
}

TEST(Sections, AreReadBackAsWritten) {
  const auto bytes = sample();
  const auto reader = SectionReader::open(bytes, "NPUTESTS", 3, "a.bin");
  ASSERT_TRUE(reader) << reader.error().message;
  ASSERT_EQ(reader->entries().size(), 3u);
  EXPECT_THAT(*reader->records<Point>(*reader->find(1)), testing::ElementsAreArray(points));
  EXPECT_EQ(reader->text(*reader->find(2)), "hello");
  EXPECT_THAT(*reader->records<Point>(*reader->find(1, 7)), testing::IsEmpty());
  EXPECT_EQ(reader->find(2, 7), nullptr);
}

TEST(Sections, OfAnArtifactWithoutAnyAreReadToo) {
  const auto bytes = SectionWriter("NPUTESTS", {3, 0}).finish();
  EXPECT_EQ(bytes.size(), 32u);
  EXPECT_EQ(error_of(bytes), "");
}

TEST(Sections, OfAnotherKindOrVersionAreRefused) {
  const auto bytes = sample();
  EXPECT_EQ(SectionReader::open(bytes, "NPUSTATS", 3, "a.bin").error().message,
            "a.bin: does not begin with NPUSTATS; it is another kind of file, or was zeroed");
  EXPECT_EQ(SectionReader::open(bytes, "NPUTESTS", 2, "a.bin").error().message,
            "a.bin: has layout version 3.1 but this npuscope reads version 2.x");
}

TEST(Sections, SayWhichRecordsDoNotFit) {
  const auto bytes = sample();
  const auto reader = SectionReader::open(bytes, "NPUTESTS", 3, "a.bin");
  EXPECT_EQ(reader->records<std::uint16_t>(*reader->find(1)).error().message,
            "a.bin: section kind 1 key 0 has records of 8 bytes, expected 2");
}

TEST(Sections, DamageIsLocated) {
  auto bytes = sample();
  bytes[155] ^= std::byte{1};
  const auto reader = SectionReader::open(bytes, "NPUTESTS", 3, "a.bin");
  ASSERT_TRUE(reader);
  EXPECT_FALSE(reader->intact(*reader->find(1)));
  EXPECT_TRUE(reader->intact(*reader->find(2)));
  EXPECT_EQ(
      reader->records<Point>(*reader->find(1)).error().message,
      "a.bin: checksum of section kind 1 key 0 (bytes 152 to 176) does not match; the file is "
      "damaged, copy it again");
}

TEST(Sections, ForgedTablesAreRefused) {
  const std::size_t first = 32;
  const std::uint64_t huge = ~std::uint64_t{0};
  EXPECT_THAT(error_of(forged(12, 0xFFFFFFFFu)), HasSubstr("too few for its 4294967295 sections"));
  EXPECT_THAT(error_of(forged(16, huge)), HasSubstr("its header says 18446744073709551615"));
  EXPECT_THAT(error_of(forged(first + 8, 0u)), HasSubstr("records of 0 bytes"));
  EXPECT_THAT(error_of(forged(first + 8, 0xFFFFFFFFu)), HasSubstr("bytes are left"));
  EXPECT_THAT(error_of(forged(first + 16, std::uint64_t{8})), HasSubstr("begins at byte 8,"));
  EXPECT_THAT(error_of(forged(first + 16, huge - 7)), HasSubstr("outside"));
  EXPECT_THAT(error_of(forged(first + 16, std::uint64_t{153})), HasSubstr("not 8-byte aligned"));
  EXPECT_THAT(error_of(forged(first + 24, huge)), HasSubstr("bytes are left"));
  EXPECT_THAT(error_of(forged(first + 24, (huge >> 3) + 2)), HasSubstr("bytes are left"));
  EXPECT_THAT(error_of(forged(first + 40 + 16, std::uint64_t{168})),
              HasSubstr("sections 0 and 1 overlap at byte 168"));
  EXPECT_THAT(error_of(forged(first + 80 + 4, 0u)),
              HasSubstr("sections 0 and 2 are both kind 1 key 0"));
}

TEST(Sections, TruncatedAnywhereAreRefused) {
  test::for_each_truncation(sample(), [](const auto& bytes, std::size_t size) {
    EXPECT_NE(error_of(bytes), "") << size << " bytes";
  });
}

TEST(Sections, NeverReturnDamagedRecords) {
  test::for_each_damaged_byte(sample(), [](const auto& bytes, std::size_t at) {
    const auto reader = SectionReader::open(bytes, "NPUTESTS", 3, "a.bin");
    if (!reader) return;
    const SectionEntry* entry = reader->find(1);
    ASSERT_NE(entry, nullptr) << "byte " << at;
    if (const auto records = reader->template records<Point>(*entry)) {
      EXPECT_THAT(*records, testing::ElementsAreArray(points)) << "byte " << at;
    }
  });
}

}  // namespace
}  // namespace npuscope::sections_test
