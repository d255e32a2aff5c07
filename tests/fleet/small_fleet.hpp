// A store of small runs in a folder of the test's own.
//
//   TemporaryStore made;
//   made.add(run_of({.content = content(1), .labels = {"build=17"}, .work = {10, 20, 30}}));
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fleet/facts.hpp"
#include "fleet/questions/answer.hpp"
#include "fleet/small_runs.hpp"
#include "fleet/store.hpp"

namespace npuscope::fleet {

inline void add_run(const SmallRun& run, Batch& batch) {
  const auto labels = Labels::parse(run.labels);
  ASSERT_TRUE(labels) << labels.error().message;
  add_facts(profile_of(run), {content(run.number), 1'000'000, *labels, false}, batch);
}

// Of however many columns.
inline Result<std::vector<AnswerRow>> any_answer_of(Store& store, std::string_view sql) {
  struct CountColumns : query::RowSink {
    std::size_t count = 0;
    void columns(const std::vector<std::string>& names) override { count = names.size(); }
    bool row(std::span<const query::Cell>) override { return false; }
  } columns;
  if (const Status done = store.run(sql, columns); !done) return tl::unexpected(done.error());
  return answer_of(store, columns.count, sql);
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
    const auto answer = any_answer_of(store, sql);
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
