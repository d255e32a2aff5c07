// Small runs by hand, and a store of them in a folder of the test's own.
//
//   TemporaryStore made;
//   made.add(run_of({.content = content(1), .labels = {"build=17"}, .work = {10, 20, 30}}));
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/profile_builder.hpp"
#include "fleet/facts.hpp"
#include "fleet/questions/answer.hpp"
#include "fleet/store.hpp"

namespace npuscope::fleet {

// 32 hexadecimal digits.
inline std::string content(std::uint64_t number) {
  return fmt::format("{:016x}{:016x}", number << 1, 7);
}

// An inference of two ops on two units, each inference 1,000 ticks after the one before.
struct SmallRun {
  std::uint64_t number = 1;
  std::vector<std::string> labels = {};
  std::vector<std::int64_t> work = {10, 20, 30};  // of the op "a", by inference
  double hertz = 1e6;
  bool damaged = false;
  std::string kernel = "conv";  // of "a"
};

inline Profile profile_of(const SmallRun& run) {
  test_support::ProfileBuilder made("timer", ClockKind::timer, run.hertz);
  const UnitId hmx = made.unit("HMX", Engine::hmx), dma = made.unit("DMA", Engine::dma);
  for (std::size_t i = 0; i < run.work.size(); ++i) {
    const auto begin = std::int64_t(1'000 * i);
    made.span(hmx, "a", begin, begin + run.work[i], SpanKind::op, run.kernel);
    made.span(dma, "b", begin + 5, begin + 9, SpanKind::transfer, "copy");
    made.span(hmx, "a", begin + run.work[i], begin + run.work[i] + 3, SpanKind::sync, run.kernel);
    for (int span = 0; span < 3; ++span) made.profile.spans.instance.push_back(std::uint32_t(i));
  }
  made.profile.provenance.files = {fmt::format("run{}.json", run.number)};
  made.profile.provenance.format = "hand-made";
  made.profile.provenance.graph = "net";
  if (run.damaged) {
    made.profile.notes.push_back({Severity::error, "run.json", 17, "the file ends here", 3});
  }
  return std::move(made.profile);
}

inline void add_run(const SmallRun& run, Batch& batch) {
  const auto labels = Labels::parse(run.labels);
  ASSERT_TRUE(labels) << labels.error().message;
  add_facts(profile_of(run), {content(run.number), 1'000'000, *labels, false}, batch);
}

// A folder that is gone with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    static int number = 0;
    path_ = std::filesystem::path(testing::TempDir()) /
            fmt::format("npuscope-fleet-{}-{}", ::getpid(), ++number);
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(const char* name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class TemporaryStore {
 public:
  TemporaryStore() { open(); }

  void open(StoreMode mode = StoreMode::make) {
    auto opened = open_store(file(), mode);
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = std::move(*opened);
  }
  Added add(const std::vector<SmallRun>& runs) {
    Batch batch;
    for (const SmallRun& run : runs) add_run(run, batch);
    const auto added = store_->add(batch);
    EXPECT_TRUE(added) << added.error().message;
    return added ? *added : Added{};
  }
  std::filesystem::path file() const { return folder_ / "fleet.db"; }
  Store& operator*() { return *store_; }

  // Rows as text: "17|conv|2.5|NULL".
  std::vector<std::string> rows(std::string_view sql) { return rows_of(*store_, sql); }

  static std::vector<std::string> rows_of(Store& store, std::string_view sql) {
    const auto answer = answer_of(store, sql);
    EXPECT_TRUE(answer) << answer.error().message;
    std::vector<std::string> lines;
    if (!answer) return lines;
    struct Text {
      std::string operator()(std::monostate) const { return "NULL"; }
      std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
      std::string operator()(double number) const { return fmt::format("{}", number); }
      std::string operator()(const std::string& text) const { return text; }
    };
    for (const AnswerRow& row : *answer) {
      std::string line;
      for (const Value& value : row) line += (line.empty() ? "" : "|") + std::visit(Text{}, value);
      lines.push_back(std::move(line));
    }
    return lines;
  }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<Store> store_;
};

}  // namespace npuscope::fleet
