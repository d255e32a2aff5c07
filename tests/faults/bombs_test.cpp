// Small files that ask for much: each command ends with its answer or a sentence, within a memory
// that a reader without bounds would exceed.
#include <gmock/gmock.h>

#include <functional>

#include "base/compressed.hpp"
#include "cli/program.hpp"
#include "cli/trace_folder.hpp"
#include "sanitized.hpp"

namespace npuscope::faults::bombs_test {
namespace {

using cli::Outcome;
using testing::HasSubstr;

constexpr std::string_view begin = "{\"traceEvents\":[\n";
constexpr std::string_view end = "{}]}\n";

std::string repeated(std::size_t count, const std::function<std::string(std::size_t)>& text) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text(i);
  return all;
}

std::string span(std::size_t thread, std::size_t start, std::size_t duration,
                 const char* more = "") {
  return "{\"ph\":\"X\",\"pid\":1,\"tid\":" + std::to_string(thread) +
         ",\"ts\":" + std::to_string(start) + ",\"dur\":" + std::to_string(duration) +
         ",\"name\":\"a\"" + more + "},\n";
}

class Bombs : public cli::TraceFolder {
 protected:
  void bomb(std::string_view events) {
    write("bomb.json", std::string(begin).append(events).append(end));
  }

  // Of `npuscope COMMAND bomb.json`; --as: of the address space, which a sanitizer needs all of.
  Outcome run(std::vector<std::string> command, const std::string& megabytes) const {
    command.insert(command.begin() + 1, path("bomb.json"));
    if (test_support::is_sanitized()) return cli::run_npuscope(command);
    command.insert(command.begin(), {"--as=" + megabytes + "000000", cli::npuscope_program()});
    return cli::run_program_at("/usr/bin/prlimit", command);
  }

  void expect_pages(const std::string& megabytes) const {
    for (const char* name : {"show", "units", "timeline", "path", "diagnose"}) {
      const Outcome outcome = run({name}, megabytes);
      EXPECT_EQ(outcome.status, 0) << name << ": " << outcome.errors;
    }
    const Outcome report = run({"report", "-o", path("report.html")}, megabytes);
    EXPECT_EQ(report.status, 0) << report.errors;
  }
};

TEST_F(Bombs, ThirtyThousandTracks) {
  bomb(repeated(30'000, [](std::size_t i) { return span(i, i, 1); }));
  expect_pages("600");
}

TEST_F(Bombs, ThirtyThousandSpansInOneAnother) {
  constexpr std::size_t depth = 30'000;
  bomb(repeated(depth, [](std::size_t i) { return span(1, i, 2 * (depth - i)); }));
  expect_pages("600");
  bomb(repeated(depth, [](std::size_t i) {
    return "{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":" + std::to_string(i) + ",\"name\":\"a\"},\n";
  }));
  expect_pages("600");
}

TEST_F(Bombs, ANameOfTwoMegabytes) {
  bomb("{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"name\":\"" +
       std::string(2 << 20, 'x') + "\"},\n");
  expect_pages("600");
}

TEST_F(Bombs, AMillionBracketsAreNoEvent) {
  constexpr std::size_t depth = 1'000'000;
  bomb("{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"name\":\"a\",\"args\":{\"a\":" +
       std::string(depth, '[') + std::string(depth, ']') + "}},\n" + span(1, 1, 1));
  const Outcome outcome = run({"show"}, "600");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.errors, HasSubstr("bomb.json"));
}

TEST_F(Bombs, AHundredThousandArguments) {
  bomb(span(1, 1, 1,
            (",\"args\":{" +
             repeated(100'000, [](std::size_t i) { return "\"k" + std::to_string(i) + "\":1,"; }) +
             "\"k\":1}")
                .c_str()));
  expect_pages("600");
}

// Half a gigabyte of events in a few megabytes: members of a gzip file, one after the other.
TEST_F(Bombs, ADecompressedTextIsReadAsFarAsMemoryGoes) {
  const std::string events = repeated(20'000, [](std::size_t i) { return span(1, i, 1); });
  const std::string member = test::gzip(events);
  write("bomb.json", test::gzip(begin) + repeated(400, [&](std::size_t) { return member; }));
  const Outcome outcome =
      run({"query", "--sql", "SELECT count(*) FROM spans", "--max-memory", "100MiB"}, "900");
  EXPECT_THAT(outcome.errors, HasSubstr("reading stopped after"));
  EXPECT_THAT(outcome.errors, HasSubstr("--max-memory raises it"));
}

}  // namespace
}  // namespace npuscope::faults::bombs_test
