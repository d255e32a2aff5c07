#include "npuscope/base/progress.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

namespace npuscope::progress_test {
namespace {

using namespace std::chrono_literals;

TEST(ProgressLine, ShowsTheShareThatIsDone) {
  EXPECT_EQ(progress_line("reading", 0, 200, 40), "reading [                         ]   0%");
  EXPECT_EQ(progress_line("reading", 82, 200, 40), "reading [##########               ]  41%");
  EXPECT_EQ(progress_line("reading", 200, 200, 40), "reading [#########################] 100%");
}

TEST(ProgressLine, NeverClaimsTheEndBeforeIt) {
  EXPECT_EQ(progress_line("x", 999'999, 1'000'000, 20), "x [########## ]  99%");
}

TEST(ProgressLine, FitsTheTerminal) {
  EXPECT_EQ(progress_line("reading", 1, 2, 300).size(), 7u + 8u + 40u);
  for (std::size_t columns = 1; columns < 120; ++columns) {
    EXPECT_LE(progress_line("reading", 1, 2, columns).size(), columns);
    EXPECT_LE(progress_line("reading", 1, 0, columns).size(), columns);
  }
  EXPECT_EQ(progress_line("reading", 1, 2, 15), "reading 50%");
}

TEST(ProgressLine, CopesWithAnUnknownTotalAndWithTooMuch) {
  EXPECT_EQ(progress_line("reading", 17, 0, 40), "reading ...");
  EXPECT_EQ(progress_line("a", 30, 20, 20), "a [###########] 100%");
  EXPECT_EQ(progress_line("\x1b[31m", 1, 0, 40), "\\x1b[31m ...");
}

// A terminal of 40 columns that is a memory stream, with a clock set by hand.
class FakeTerminal {
 public:
  FakeTerminal() : stream_(open_memstream(&text_, &size_)) {}
  ~FakeTerminal() {
    std::fclose(stream_);
    std::free(text_);
  }
  FakeTerminal(const FakeTerminal&) = delete;
  FakeTerminal& operator=(const FakeTerminal&) = delete;

  ProgressTerminal terminal(bool is_terminal) {
    return {stream_, is_terminal, 40, [this] { return now; }};
  }
  std::string text() {
    std::fflush(stream_);
    return {text_, size_};
  }
  std::chrono::nanoseconds now = 1h;

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* stream_ = nullptr;
};

TEST(ProgressBar, ShortWorkDrawsNothing) {
  FakeTerminal fake;
  {
    ProgressBar bar("reading", fake.terminal(true));
    fake.now += 999ms;
    bar.update(1, 2);
  }
  EXPECT_EQ(fake.text(), "");
}

TEST(ProgressBar, LongWorkDrawsTenTimesASecondAndCleansUp) {
  FakeTerminal fake;
  {
    ProgressBar bar("reading", fake.terminal(true));
    fake.now += 1s;
    bar.update(1, 4);
    fake.now += 99ms;
    bar.update(2, 4);
    fake.now += 1ms;
    bar.update(3, 4);
  }
  EXPECT_EQ(fake.text(),
            "\rreading [######                  ]  25%\x1b[K"
            "\rreading [##################      ]  75%\x1b[K"
            "\r\x1b[K");
}

TEST(ProgressBar, NothingIsDrawnIntoAFile) {
  FakeTerminal fake;
  {
    ProgressBar bar("reading", fake.terminal(false));
    fake.now += 10s;
    bar.update(1, 2);
  }
  EXPECT_EQ(fake.text(), "");
}

TEST(ProgressBar, ManyThreadsMayReport) {
  FakeTerminal fake;
  {
    ProgressBar bar("reading", fake.terminal(true));
    fake.now += 2s;
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (std::uint64_t done = 0; done < 1'000; ++done) bar.update(done, 1'000);
      });
    }
  }
  const std::string text = fake.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '%'), 1) << "the clock stood still";
}

// Reading had a bar, and then the terminal stood still while the profile was analysed.
TEST(BusySign, ShowsWorkThatCannotSayHowFarItHasCome) {
  FakeTerminal fake;
  ProgressTerminal terminal = fake.terminal(true);
  std::atomic<int> asked = 0;  // the clock is asked once when it begins
  terminal.now = [&] { return asked++ == 0 ? 0s : std::chrono::seconds(2); };
  {
    const BusySign sign("analysing", terminal);
    while (asked < 3) std::this_thread::sleep_for(1ms);
  }
  EXPECT_TRUE(fake.text().starts_with("\ranalysing ...\x1b[K"));
  EXPECT_TRUE(fake.text().ends_with("\r\x1b[K"));
}

TEST(BusySign, IsSilentInAPipe) {
  FakeTerminal fake;
  { const BusySign sign("analysing", fake.terminal(false)); }
  EXPECT_EQ(fake.text(), "");
}

}  // namespace
}  // namespace npuscope::progress_test
