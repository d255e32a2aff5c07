// Files that are far larger than any real one, as a few compressed kilobytes can be: what is kept
// of them has an end, and where it ends is said.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "formats/qnn/read/qhas.hpp"
#include "formats/qnn/read/viewer.hpp"
#include "profile/line_reader.hpp"

namespace npuscope::qnn::bounds_test {
namespace {

// A text, then another over and over, up to a size; then it may break off.
class Repeating final : public ByteSource {
 public:
  Repeating(std::string first, std::string again, std::uint64_t bytes, bool breaks = false)
      : first_(std::move(first)), again_(std::move(again)), bytes_(bytes), breaks_(breaks) {}

  Result<std::size_t> read(std::span<char> into) override {
    if (at_ == bytes_ && breaks_) return input_error("f: the archive is broken");
    std::size_t done = 0;
    while (done < into.size() && at_ < bytes_) {
      const bool begins = at_ < first_.size();
      const std::string& from = begins ? first_ : again_;
      const std::size_t begin = begins ? std::size_t(at_) : (at_ - first_.size()) % again_.size();
      const std::size_t count = std::min({from.size() - begin, into.size() - done,
                                          std::size_t(bytes_ - at_), std::size_t{97'003}});
      std::memcpy(into.data() + done, from.data() + begin, count);
      done += count;
      at_ += count;
    }
    return done;
  }
  std::uint64_t position() const override { return at_; }
  std::uint64_t file_bytes_read() const override { return at_; }
  std::uint64_t file_bytes() const override { return bytes_; }
  Compression compression() const override { return Compression::gzip; }
  const std::string& name() const override { return name_; }

 private:
  std::string first_, again_;
  std::uint64_t bytes_, at_ = 0;
  bool breaks_;
  std::string name_ = "f";
};

std::string notes_of(const CountedNotes& losses) {
  std::string text;
  for (const Note& note : losses.notes()) {
    text += fmt::format("{} at {}, {} times\n", note.message, note.offset, note.count);
  }
  return text;
}

TEST(LineReader, HandsOutLinesWhateverPiecesTheyComeIn) {
  std::string again;
  for (int i = 0; i < 500; ++i)
    again += std::string(std::size_t(i * 7 % 301), char('a' + i % 26)) + "\n";
  Repeating source("first\n\n", again, 7 + again.size() * 20 + 40);
  CountedNotes losses("f");
  LineReader lines(source, losses);
  std::string joined;
  for (std::string_view line; lines.next(line);) {
    ASSERT_EQ(lines.offset(), joined.size());
    joined.append(line).append("\n");
  }
  joined.pop_back();  // the last line has no end
  std::string expected = "first\n\n";
  while (expected.size() < source.file_bytes()) expected += again;
  expected.resize(source.file_bytes());
  EXPECT_EQ(joined, expected);
  EXPECT_EQ(notes_of(losses), "");
}

TEST(LineReader, CutsLongLinesAndKeepsTheNext) {
  Repeating source(std::string(200'000, 'x') + "\nnext", "y", 200'005);
  CountedNotes losses("f");
  LineReader lines(source, losses);
  std::string_view line;
  ASSERT_TRUE(lines.next(line));
  EXPECT_EQ(line, std::string(65'536, 'x'));
  ASSERT_TRUE(lines.next(line));
  EXPECT_EQ(line, "next");
  EXPECT_EQ(lines.offset(), 200'001u);
  EXPECT_FALSE(lines.next(line));
  EXPECT_EQ(notes_of(losses), "lines of more than 64 KiB; cut at 0, 1 times\n");
}

TEST(ViewerText, OfAnArchiveThatBreaksOffIsKeptUpToThere) {
  Repeating source("Execute Stats: \n\nExecute Stat 1\nQNN (execute) time : 3907  us\n", "x", 62,
                   true);
  CountedNotes losses("f");
  const auto output = read_viewer_text(source, losses);
  ASSERT_TRUE(output) << output.error().message;
  ASSERT_EQ(output->front().events.size(), 1u);
  EXPECT_EQ(output->front().events[0].value, 3907);
  EXPECT_EQ(notes_of(losses), "the archive is broken at 62, 1 times\n");
}

TEST(ViewerText, HasAnEndToItsNumbers) {
  Repeating source("Execute Stats: \nExecute Stat 1\n", "a : 1 us\n",
                   31 + std::uint64_t{9} * 4'200'000);
  CountedNotes losses("f");
  const auto output = read_viewer_text(source, losses);
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->front().events.size(), 4'194'304u);
  EXPECT_EQ(notes_of(losses), "numbers beyond the first 4,194,304; left out at 0, 5696 times\n");
}

TEST(ViewerText, HasAnEndToItsText) {
  Repeating source("Execute Stats: \nExecute Stat 1\na : 1 us\n", std::string(4096, '-'),
                   std::uint64_t{300} << 20);
  CountedNotes losses("f");
  const auto output = read_viewer_text(source, losses);
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->front().events.size(), 1u);
  EXPECT_NE(notes_of(losses).find("text beyond the first 256 MiB; left out"), std::string::npos);
}

TEST(ViewerCsv, DoesNotGatherTheFileBehindAQuoteThatIsNeverClosed) {
  const std::string head =
      "Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,Event Identifier\n"
      "0,BACKEND,7,US,BACKEND,ROOT,\"QNN (execute) time\"\n0,BACKEND,8,US,BACKEND,ROOT,\"";
  Repeating source(head, "never closed\n", head.size() + 13 * 20'000);
  CountedNotes losses("f");
  const auto output = read_viewer_csv(source, losses);
  ASSERT_TRUE(output) << output.error().message;
  ASSERT_EQ(output->front().events.size(), 2u);
  EXPECT_EQ(output->front().events[0].value, 7);
  EXPECT_LT(output->front().strings[output->front().events[1].label].size(), 65'537u);
  EXPECT_NE(notes_of(losses).find("rows of more than 64 KiB; cut"), std::string::npos);
}

TEST(Qhas, OfMoreThanItsLimitIsRefused) {
  Repeating source("{\"header\": ", std::string(4096, ' '), std::uint64_t{300} << 20);
  CountedNotes losses("f");
  const auto qhas = read_qhas(source, losses);
  ASSERT_FALSE(qhas);
  EXPECT_EQ(
      qhas.error().message,
      "f: has more than 268435456 bytes, too many for a file of its kind; check that it is the "
      "right file");
}

TEST(Qhas, OfBracketsOnlyIsRefusedBeforeTheyAreIndexed) {
  Repeating source("{\"data\":", std::string(4096, '['), std::uint64_t{17} << 20);
  CountedNotes losses("f");
  const auto qhas = read_qhas(source, losses);
  ASSERT_FALSE(qhas);
  EXPECT_EQ(qhas.error().message,
            "f: has 17825786 brackets, commas and colons in 17825792 bytes, more than any QNN "
            "artifact; check that it is the right file");
}

TEST(Qhas, HasAnEndToItsRows) {
  Repeating source(R"({"data":{"htp_overall_summary":{"data":[{"htp":1})", R"(,{"htp":1})",
                   51 + std::uint64_t{10} * 1'100'000);
  CountedNotes losses("f");
  const auto qhas = read_qhas(source, losses);
  ASSERT_TRUE(qhas) << qhas.error().message;
  EXPECT_EQ(qhas->cores.size(), 1'048'576u);
  EXPECT_NE(notes_of(losses).find("more than 1,048,576 rows; the others of htp_overall_summary and "
                                  "what follows are left out"),
            std::string::npos)
      << notes_of(losses);
}

}  // namespace
}  // namespace npuscope::qnn::bounds_test
