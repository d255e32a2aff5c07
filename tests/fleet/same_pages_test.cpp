// Every page of `npuscope fleet` is the same, byte for byte, whichever store answers.
#include "fleet/clickhouse_fixture.hpp"
#include "fleet/synthetic_fleet.hpp"
#include "report/fleet/fleet_document.hpp"
#include "sanitized.hpp"

namespace npuscope::fleet::same_pages_test {
namespace {

using report::Document;
using report::FleetHead;

template <class Answer, class Make>
std::string page_of(const Result<Answer>& answer, const Make& make) {
  if (!answer) return fmt::format("error {}: {}", int(answer.error().kind), answer.error().message);
  const Document document = make(FleetHead{"STORE", "…"}, *answer);
  return document_text(document, 100) + document_json(document, {});
}

struct Page {
  std::string name, text;
};

std::vector<Page> pages_of(Store& store, const Choice& choice) {
  std::vector<Page> pages;
  const auto add = [&](const char* name, const auto& answer, const auto& make) {
    pages.push_back(
        {fmt::format("{} where '{}' by '{}'", name, choice.where, fmt::join(choice.by, ",")),
         page_of(answer, make)});
  };
  add("ls", list_of(store, choice, 20), report::fleet_listing_document);
  for (const std::string& measure : {std::string(), std::string("wall")}) {
    add("latency", latency_of(store, choice, {measure}), report::fleet_latency_document);
  }
  for (const std::string& measure : op_measures()) {
    add("ops", ops_of(store, choice, {measure, 1'000'000}), report::fleet_ops_document);
  }
  add("first ops", ops_of(store, choice, {op_measures().front(), 3}), report::fleet_ops_document);
  add("findings", findings_of(store, choice), report::fleet_findings_document);
  OutlierRequest request;
  add("outliers", outliers_of(store, choice, request), report::fleet_outliers_document);
  request.within = {"build"};
  add("outliers within builds", outliers_of(store, choice, request),
      report::fleet_outliers_document);
  add("diff", compare_ops(store, choice, "build < 3", "build >= 3", {}),
      report::fleet_changes_document);
  add("diff along", change_points(store, choice, "build", {}), report::fleet_points_document);
  return pages;
}

void expect_same_pages(Store& one, Store& other, const std::vector<Choice>& choices) {
  for (const Choice& choice : choices) {
    const std::vector<Page> expected = pages_of(one, choice), found = pages_of(other, choice);
    ASSERT_EQ(expected.size(), found.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(found[i].text, expected[i].text) << expected[i].name;
    }
  }
}

class SamePages : public OnClickHouse {};

TEST_F(SamePages, OfASyntheticFleet) {
  TemporaryStore sqlite;
  const auto store = opened(url());
  SyntheticFleet fleet(npuscope::test_support::rounds(300));
  fleet.slow_memory = SyntheticFleet::device(2);
  fleet.other_graph = SyntheticFleet::device(9);
  fleet.fill(*sqlite);
  fleet.fill(*store);
  expect_same_pages(*sqlite, *store,
                    {{},
                     {"", {"device"}},
                     {"", {"build", "device"}},
                     {"build >= 17 AND device <> 'd05'", {}},
                     {"build BETWEEN 2 AND 8", {"graph"}},
                     {"model = 'none'", {}}});
}

// Runs of several clocks, without tags that others have, damaged, with losses.
TEST_F(SamePages, OfRunsThatLackThings) {
  std::vector<SmallRun> runs;
  for (std::uint64_t i = 1; i <= 40; ++i) {
    SmallRun run{.number = i};
    if (i % 3 != 0) run.labels.push_back(fmt::format("build={}", i % 5));
    if (i % 4 != 0) run.labels.push_back(fmt::format("device=d{}", i % 4));
    if (i % 5 != 0) run.labels.push_back(fmt::format("lab={}", i % 2 == 0 ? "x'y" : "3"));
    run.work = {std::int64_t(10 + i), std::int64_t(20 + i * i % 17), std::int64_t(30 + i % 7)};
    if (i % 6 == 0) run.work = {std::int64_t(i)};
    run.hertz = i % 2 == 0 ? 1e6 : 19.2e6;
    run.damaged = i % 11 == 0;
    runs.push_back(std::move(run));
  }
  const Batch batch = batch_of(runs);
  TemporaryStore sqlite;
  ASSERT_TRUE((*sqlite).add(batch));
  const auto store = opened(url());
  ASSERT_TRUE(store->add(batch));
  expect_same_pages(*sqlite, *store,
                    {{},
                     {"", {"build"}},
                     {"", {"lab", "device"}},
                     {"", {"damaged"}},
                     {"lab = 'x''y'", {}},
                     {"build IS NULL", {"hertz"}},
                     {"damaged = 1", {}},
                     {"", {"run"}},
                     {"", {"nothing"}}});
}

}  // namespace
}  // namespace npuscope::fleet::same_pages_test
