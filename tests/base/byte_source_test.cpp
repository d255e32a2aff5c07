#include "npuscope/base/byte_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "base/compressed.hpp"
#include "base/memory_use.hpp"
#include "sanitized.hpp"

namespace npuscope::byte_source_test {
namespace {

using test::gzip;
using test::zstd;
using ::testing::HasSubstr;

// Compressible, but not too well, so that it takes several of the decoders' buffers.
std::string sample_text(std::size_t bytes) {
  std::mt19937 random(7);
  std::string text;
  while (text.size() < bytes) text += std::to_string(random() % 100'000) + ", ";
  text.resize(bytes);
  return text;
}

// As long as is asked for, and packed at once: one page again and again.
std::string long_text(std::size_t bytes) {
  const std::string page = sample_text(8'192);
  std::string text;
  while (text.size() < bytes) text += page;
  return text;
}

struct Reading {
  std::string text;
  std::string error;  // empty: none
};

// Reads to the end in pieces of `step` bytes.
Reading read_in_steps(ByteSource& source, std::size_t step) {
  Reading reading;
  std::string buffer(step, '\0');
  for (;;) {
    const auto count = source.read(buffer);
    if (!count) {
      reading.error = count.error().message;
      EXPECT_EQ(source.read(buffer).value_or(1), 0u) << "after an error a source is at its end";
      return reading;
    }
    EXPECT_LE(*count, step);
    if (*count == 0) return reading;
    reading.text.append(buffer, 0, *count);
    EXPECT_EQ(source.position(), reading.text.size());
  }
}

Reading read_bytes(const std::string& bytes, std::size_t step = 4096,
                   const ByteSourceOptions& options = {}) {
  auto source = open_byte_source(std::string_view(bytes), "trace", options);
  if (!source) return {{}, source.error().message};
  return read_in_steps(**source, step);
}

class ByteSourceFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() /
            ("npuscope_byte_source_" + std::string(test->name()) + std::to_string(::getpid()));
  }
  void TearDown() override { std::filesystem::remove_all(path_); }
  void write(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
  }

  std::filesystem::path path_;
};

TEST(ByteSource, HandsOutAnyCompressionInPiecesOfAnySize) {
  const std::string text = sample_text(700'000);
  for (const std::string& bytes : {text, gzip(text), zstd(text)}) {
    for (const std::size_t step : {1'000u, 65'536u, 700'000u, 1'000'000u}) {
      const Reading reading = read_bytes(bytes, step);
      EXPECT_EQ(reading.text, text);
      EXPECT_EQ(reading.error, "");
    }
  }
}

TEST(ByteSource, KnowsTheCompressionByContent) {
  const auto compression_of = [](const std::string& bytes) {
    return (*open_byte_source(std::string_view(bytes), "x"))->compression();
  };
  EXPECT_EQ(compression_of("{}"), Compression::none);
  EXPECT_EQ(compression_of(""), Compression::none);
  EXPECT_EQ(compression_of("\x1f"), Compression::none);
  EXPECT_EQ(compression_of(gzip("{}")), Compression::gzip);
  EXPECT_EQ(compression_of(zstd("{}")), Compression::zstd);
}

TEST(ByteSource, ReadsConcatenatedMembersAndFrames) {
  EXPECT_EQ(read_bytes(gzip("one ") + gzip("") + gzip("two")).text, "one two");
  EXPECT_EQ(read_bytes(zstd("one ") + zstd("") + zstd("two")).text, "one two");
}

TEST(ByteSource, SkipsSkippableFramesEvenAtTheBegin) {
  const std::string skippable("\x50\x2a\x4d\x18\x03\x00\x00\x00???", 11);
  const Reading reading = read_bytes(skippable + zstd("text") + skippable);
  EXPECT_EQ(reading.text, "text");
  EXPECT_EQ(reading.error, "");
}

TEST(ByteSource, TakesZerosBehindGzipAsPadding) {
  const Reading padded = read_bytes(gzip("text") + std::string(1000, '\0'));
  EXPECT_EQ(padded.text, "text");
  EXPECT_EQ(padded.error, "");
  const Reading garbage = read_bytes(gzip("text") + "garbage");
  EXPECT_EQ(garbage.text, "text");
  EXPECT_THAT(garbage.error, HasSubstr("trace: broken gzip data near byte"));
}

TEST(ByteSource, KeepsWhatPrecedesTheEndOfATruncatedArchive) {
  const std::string text = sample_text(3'000);
  for (const std::string& whole : {gzip(text), zstd(text)}) {
    for (std::size_t length = 4; length < whole.size(); ++length) {
      const Reading reading = read_bytes(whole.substr(0, length), 512);
      EXPECT_TRUE(text.starts_with(reading.text));
      EXPECT_THAT(reading.error, HasSubstr("data ends in the middle, at byte " +
                                           std::to_string(length) + "; copy the file again"));
    }
  }
}

TEST(ByteSource, HandsOutTheGoodBytesBeforeABrokenPlace) {
  const std::string text = sample_text(400'000);
  for (std::string bytes : {gzip(text), zstd(text)}) {
    for (std::size_t i = 0; i < 64; ++i) bytes[bytes.size() * 3 / 4 + i] ^= 0x55;
    const Reading reading = read_bytes(bytes);
    EXPECT_GT(reading.text.size(), text.size() / 4);
    EXPECT_TRUE(text.starts_with(reading.text.substr(0, text.size() / 4)));
    EXPECT_THAT(reading.error, HasSubstr("broken"));
  }
}

// gzip has checksums; zstd has them only when asked for, so there damage may change the text.
TEST(ByteSource, RandomDamageNeverCrashesAndIsToldWhereAChecksumTells) {
  std::mt19937 random(11);
  const std::string text = sample_text(5'000);
  for (const std::string& whole : {gzip(text), zstd(text)}) {
    for (int round = 0; round < 500; ++round) {
      std::string bytes = whole;
      for (int flip = 0; flip < 3; ++flip) {
        bytes[random() % bytes.size()] ^= char(1 << random() % 8);
      }
      const Reading reading = read_bytes(bytes, 777, {.decompressed_limit = 1 << 20});
      EXPECT_LE(reading.text.size(), 1u << 20);
      if (bytes.starts_with("\x1f\x8b\x08") && reading.text != text) {
        EXPECT_NE(reading.error, "");
      }
    }
  }
}

TEST(ByteSource, SaysWhichOfTheChecksOfAGzipMemberFails) {
  const std::string text = sample_text(70'000), first = gzip("one ");
  const auto with_broken = [&](std::size_t from_end) {
    std::string bytes = first + gzip(text) + "padding, not read";
    bytes[bytes.size() - std::string_view("padding, not read").size() - from_end] ^= 1;
    return read_bytes(bytes, 4096);
  };
  const std::size_t end = (first + gzip(text)).size();
  const auto near = [](std::size_t byte, const char* why) {
    return "trace: broken gzip data near byte " + std::to_string(byte) + " (incorrect " + why +
           " check); copy the file again";
  };
  EXPECT_EQ(with_broken(8).error, near(end - 4, "data"));
  EXPECT_EQ(with_broken(1).error, near(end, "length"));
  EXPECT_EQ(with_broken(1).text, "one " + text);
  std::string whole = gzip(text);
  whole.back() ^= 1;
  EXPECT_EQ(read_bytes(whole).error, near(whole.size(), "length"));  // not "ends in the middle"
}

TEST(ByteSource, ChecksTheHeaderOfAGzipMemberThatHasAChecksum) {
  std::string bytes = gzip("text");
  bytes[3] |= 2;  // FHCRC
  bytes.insert(10, std::string("\0\0", 2));
  EXPECT_THAT(read_bytes(bytes).error, HasSubstr("header crc mismatch"));
}

TEST(ByteSource, StopsAtTheLimitOfABomb) {
  const std::string zeros(1 << 20, '\0');
  for (const std::string& bomb : {gzip(zeros), zstd(zeros)}) {
    const Reading reading = read_bytes(bomb, 4096, {.decompressed_limit = 10'000});
    EXPECT_EQ(reading.text.size(), 10'000u);
    EXPECT_EQ(
        reading.error,
        "trace: decompresses to more than 10000 bytes, the limit; decompress it to a file and "
        "open that");
    EXPECT_EQ(read_bytes(bomb, 4096, {.decompressed_limit = 1 << 20}).error, "");
  }
  EXPECT_EQ(read_bytes("plain text", 4, {.decompressed_limit = 3}).text, "plain text");
}

TEST_F(ByteSourceFile, ReadsFilesAndTellsHowFarItIs) {
  const std::string text = sample_text(300'000);
  write(gzip(text));
  auto source = open_byte_source(path_);
  ASSERT_TRUE(source);
  EXPECT_EQ((*source)->name(), path_.string());
  EXPECT_EQ((*source)->file_bytes(), std::filesystem::file_size(path_));
  EXPECT_EQ((*source)->file_bytes_read(), 0u);
  EXPECT_EQ(read_in_steps(**source, 10'000).text, text);
  EXPECT_EQ((*source)->file_bytes_read(), (*source)->file_bytes());
  EXPECT_EQ(read_head(path_, 10).value(), text.substr(0, 10));
}

TEST_F(ByteSourceFile, AFileThatShrinksEndsWithAnErrorAfterTheGoodBytes) {
  write(std::string(10'000, 'a'));
  auto source = open_byte_source(path_);
  std::filesystem::resize_file(path_, 6'000);
  const Reading reading = read_in_steps(**source, 4096);
  EXPECT_EQ(reading.text, std::string(6'000, 'a'));
  EXPECT_EQ(reading.error, path_.string() +
                               ": ends at byte 6000 but had 10000 bytes when it was opened; read "
                               "it again when nothing writes it any more");
}

TEST_F(ByteSourceFile, WhatIsAppendedLaterIsNotRead) {
  write("begin");
  auto source = open_byte_source(path_);
  write("begin and more");
  EXPECT_EQ(read_in_steps(**source, 4).text, "begin");
}

TEST_F(ByteSourceFile, RefusesWhatIsNoFile) {
  EXPECT_THAT(open_byte_source(path_).error().message, HasSubstr("cannot open"));
  std::filesystem::create_directory(path_);
  EXPECT_THAT(open_byte_source(path_).error().message, HasSubstr("not a regular file"));
}

TEST(ByteSource, ReadsAllUpToALimit) {
  const std::string text = sample_text(600'000);
  const std::string packed = gzip(text);
  EXPECT_EQ(read_all(**open_byte_source(std::string_view(packed), "x"), text.size()).value(), text);
  EXPECT_THAT(read_all(**open_byte_source(std::string_view(packed), "x"), 1'000).error().message,
              HasSubstr("x: has more than 1000 bytes"));
}

TEST(ByteSource, ReadsAllOfAnyLength) {
  constexpr std::size_t step = 16 << 10;  // the first of those in which it is read
  for (const std::size_t whole : {std::size_t{0}, step, 3 * step, 7 * step, 63 * step}) {
    for (const std::size_t size : {whole, whole + 1, whole + step - 1}) {
      const std::string text = sample_text(size);
      EXPECT_EQ(read_all(**open_byte_source(std::string_view(text), "x"), size).value(), text);
    }
  }
}

// A gzip of 3 MB became 4.6 GB of profile, and nothing but the machine's memory was its limit.
TEST(ByteSource, ReadingEndedNowhereHoweverMuchMemoryWasMadeOfIt) {
  const std::string text = long_text(20 << 20);
  for (const std::string& bytes : {text, gzip(text), zstd(text)}) {
    auto source = open_byte_source(bytes, "bomb.json", {.memory_limit = 1});
    ASSERT_TRUE(source);
    const Reading stopped = read_in_steps(**source, 1 << 20);
    EXPECT_EQ(stopped.text, "");
    EXPECT_THAT(stopped.error, HasSubstr("bomb.json: reading stopped after 0 MiB of its text"));
    EXPECT_THAT(stopped.error, HasSubstr("limit is 0 MiB; --max-memory raises it"));
  }
  auto enough = open_byte_source(text, "trace.json", {.memory_limit = std::uint64_t{1} << 40});
  EXPECT_EQ(read_in_steps(**enough, 1 << 20).text, text);
}

TEST(ByteSource, ReadingStopsWhenTheLimitIsReached) {
  const std::string text = gzip(long_text(64 << 20));
  if (test_support::is_sanitized()) GTEST_SKIP() << "a sanitizer keeps memory that was freed";
  const std::uint64_t before = memory_in_use();
  if (before == 0) GTEST_SKIP() << "the system does not say how much memory is in use";
  auto source = open_byte_source(text, "bomb.json", {.memory_limit = before + (24 << 20)});
  ASSERT_TRUE(source);
  const Reading stopped = read_in_steps(**source, 1 << 20);  // keeps all that it reads
  EXPECT_GT(stopped.text.size(), 8u << 20);
  EXPECT_LT(stopped.text.size(), 64u << 20);
  EXPECT_THAT(stopped.error, HasSubstr("reading stopped after"));
}

TEST(MemoryUse, IsSomethingAndLessThanThereIs) {
  const std::uint64_t before = memory_in_use();
  const std::string more(64 << 20, 'x');
  EXPECT_GE(memory_in_use(), before + (48 << 20)) << more.size();
  EXPECT_GT(usable_memory(), memory_in_use());
}

}  // namespace
}  // namespace npuscope::byte_source_test
