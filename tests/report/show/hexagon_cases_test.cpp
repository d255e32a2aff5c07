// OP_TRACE files of public reports and of other people's scripts: what a reader must conclude of
// the hardware from them (expected.md of ../shared/data/public_cases/10, 33 and 34 says why).
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/timeline_rows.hpp"
#include "npuscope/analysis/units.hpp"
#include "npuscope/formats/open.hpp"
#include "npuscope/profile/intervals.hpp"
#include "report/show/show.hpp"

namespace npuscope::report::hexagon_cases_test {
namespace {

namespace fs = std::filesystem;
using analysis::Analysis;
using analysis::Grouping;
using analysis::Part;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class HexagonCases : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(NPUSCOPE_SHARED_DIR "/data/public_cases")) {
      GTEST_SKIP() << "the shared samples are not here";
    }
  }

  static Analysis open(const std::string& path) {
    const fs::path file = fs::path(NPUSCOPE_SHARED_DIR "/data/public_cases") / path;
    auto opened = open_profiles({&file, 1});
    EXPECT_TRUE(opened) << opened.error().message;
    return Analysis(opened ? std::move(opened->profiles.at(0)) : Profile{});
  }

  // A number of each row: the column of this name.
  static std::map<std::string, double> column(const Analysis& looked, Grouping grouping,
                                              std::string_view name) {
    const auto table = looked.ops({.grouping = grouping, .top = 100});
    std::map<std::string, double> all;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].name != name) continue;
      for (const analysis::OpRow& row : table.rows) {
        if (row.values[i]) all[row.name] = *row.values[i];
      }
    }
    return all;
  }

  // "HMX 1 unit: domain 2000, active 2000, work 2000" of each class.
  static std::vector<std::string> hardware(const Analysis& looked) {
    std::vector<std::string> lines;
    for (const analysis::EngineRow& row : looked.units().engines) {
      lines.push_back(fmt::format("{} {}: domain {}, active {}, work {}", name_of(row.engine),
                                  row.units, row.domain, row.active, row.work));
    }
    return lines;
  }

  static std::map<std::string, std::int64_t> busy(const Analysis& looked) {
    std::map<std::string, std::int64_t> all;
    for (const analysis::UnitRow& row : looked.units().units) {
      const Profile& profile = looked.profile();
      all[std::string(profile.text(profile.units[index_of(row.unit)].name))] = row.busy;
    }
    return all;
  }

  static std::string page_of(const Analysis& looked) {
    return document_text(first_page(looked, {.files = "x"}), 100);
  }
};

// "How much does the HMX work": its ops, and not all that is drawn on the lane named after it.
TEST_F(HexagonCases, TheHmxsShareIsThatOfItsOpsNotOfItsLane) {
  const Analysis looked = open("10-qnn-optrace-op-by-lane/chrometrace.json");
  EXPECT_THAT(column(looked, Grouping::op, "work"),
              UnorderedElementsAre(Pair("matmul_qk", 2'973'101), Pair("scale_qk", 2'331'675),
                                   Pair("softmax", 4'132'153), Pair("matmul_av", 554'334),
                                   Pair("Output", 192'269)));
  EXPECT_EQ(looked.coarse().work, 10'183'532);
  EXPECT_EQ(looked.coarse().wall, 2'424'373);
  EXPECT_EQ(busy(looked)["HMX 256"], 492'460);
  EXPECT_EQ(looked.overlap().active(Engine::hmx), 297'539);
  for (const analysis::EngineRow& row : looked.units().engines) {
    if (row.engine != Engine::hmx) continue;
    EXPECT_EQ(row.domain, 297'539);
    EXPECT_EQ(row.work, 297'539);
  }
  const std::string page = document_text(*show_document(looked, {}), 140);
  EXPECT_THAT(page, HasSubstr("297,539   12.3 %"));
  EXPECT_THAT(page, HasSubstr("492,460   20.3 %"));
}

// Without IDs, flags and the name of a process: what the lanes are named after is all there is.
TEST_F(HexagonCases, OpsOfAHomemadeTraceRunOnTheLanesHardware) {
  const Analysis looked = open("33-homemade-optrace/chrometrace.json");
  EXPECT_EQ(looked.profile().spans.size(), 48u);
  EXPECT_THAT(column(looked, Grouping::op, "work"),
              UnorderedElementsAre(Pair("Br::head", 1'200), Pair("Br::diag", 3'180),
                                   Pair("Br::mm", 4'800), Pair("Br::quant", 720)));
  EXPECT_EQ(looked.coarse().wall, 2'849);
  EXPECT_EQ(looked.coarse().active, 2'547);
  EXPECT_EQ(looked.coarse().parts[std::size_t(Part::compute_alone)], 2'547);
  EXPECT_THAT(hardware(looked), ElementsAre("HVX 4: domain 2520, active 2547, work 9900"));
  EXPECT_THAT(busy(looked), UnorderedElementsAre(Pair("HVX 512", 2'430), Pair("HVX 513", 2'460),
                                                 Pair("HVX 514", 2'490), Pair("HVX 515", 2'520)));
  for (const Note& note : looked.profile().notes) {
    EXPECT_THAT(note.message, Not(HasSubstr("QNN::"))) << "there are none in the file";
  }
}

TEST_F(HexagonCases, AHomemadeTraceHasHmxAndHvxApart) {
  const Analysis looked = open("33-homemade-optrace/hmx_hvx.json");
  EXPECT_EQ(looked.profile().spans.size(), 15u);
  EXPECT_THAT(column(looked, Grouping::op, "work"),
              UnorderedElementsAre(Pair("q::HmxMatMul_s1.opt", 2'500),
                                   Pair("q::ConvLayer.opt.weights_to_vtcm", 1'500),
                                   Pair("q::ForceFormat_Crouton(act)", 1'000)));
  EXPECT_THAT(busy(looked), UnorderedElementsAre(Pair("HMX 256", 2'500), Pair("HVX 512", 1'500),
                                                 Pair("HVX 513", 1'000)));
  EXPECT_THAT(hardware(looked), ElementsAre("HVX 2: domain 1500, active 1500, work 2500",
                                            "HMX 1: domain 2500, active 2500, work 2500"));
  EXPECT_EQ(looked.overlap().of(Engine::hvx, Engine::hmx), 1'200);
}

// Lanes numbered as in QAIRT 2.47: 256 is DMA, 512 to 519 are HVX, 768 is HMX.
TEST_F(HexagonCases, LanesAreKnownByNameNotByNumber) {
  const Analysis looked = open("34-optrace-247-lanes/chrometrace.json");
  const analysis::Coarse& coarse = looked.coarse();
  EXPECT_EQ(coarse.wall, 3'790);
  EXPECT_EQ(coarse.parts[std::size_t(Part::idle)], 120);
  EXPECT_EQ(busy(looked)["HMX 768"], 2'000);
  EXPECT_EQ(busy(looked)["DMA 256"], 1'800);
  EXPECT_THAT(hardware(looked), ElementsAre("HVX 8: domain 1280, active 1280, work 10240",
                                            "HMX 1: domain 2000, active 2000, work 2000",
                                            "DMA issue 1: domain 210, active 210, work 210",
                                            "DMA 1: domain 1800, active 1800, work 1800"));
  EXPECT_EQ(coarse.movement_active, 2'010);  // the flag "dma": the lane, spill and fill
  std::int64_t dma_wait = 0, syncs = 0;
  for (const analysis::UnitRow& row : looked.units().units) {
    dma_wait += row.waiting_for_dma;
    syncs += row.at_syncs;
  }
  EXPECT_EQ(dma_wait, 40);
  EXPECT_EQ(syncs, 120);
  const auto by_kind = column(looked, Grouping::kind, "work");
  EXPECT_EQ(by_kind.at("@Spill"), 120);
  EXPECT_EQ(by_kind.at("@Fill"), 90);
  EXPECT_THAT(page_of(looked), HasSubstr("idle"));
}

// 14,410 cycles are on its lanes: 14,250 of work, 120 of syncs and 40 of a wait for DMA. Waits are
// no work here, so where only syncs stand (30 cycles, 4 lanes) nothing works, and where the wait
// stands next to a transfer (40) one unit does. expected.md counts lanes with anything on them.
TEST_F(HexagonCases, WaitsAreOccupationAndNoWork) {
  const Analysis looked = open("34-optrace-247-lanes/chrometrace.json");
  const analysis::TimelineRows rows = looked.timeline();
  EXPECT_EQ(rows.occupied.sum, 14'410);
  EXPECT_EQ(rows.busy.sum, 14'250);
  EXPECT_EQ(rows.waits.sum, 160);
  EXPECT_EQ(rows.waits.length, 30);
  EXPECT_EQ(rows.idle, 120);
  EXPECT_THAT(looked.concurrency().time_at,
              ElementsAre(120 + 30, 1'470 + 40, 890 - 40, 0, 0, 0, 0, 0, 480, 800));
  const Spans& spans = looked.profile().spans;
  std::map<UnitId, IntervalSet> by_unit;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    by_unit[spans.unit[i]].push_back({spans.start[i], spans.start[i] + spans.duration[i]});
  }
  std::vector<const IntervalSet*> occupied;
  for (auto& [unit, intervals] : by_unit) {
    intervals = union_of(std::move(intervals));
    occupied.push_back(&intervals);
  }
  EXPECT_THAT(concurrency_of(occupied).time_at,
              ElementsAre(120, 1'470, 890, 0, 30, 0, 0, 0, 480, 800));
}

// Each moment is that of one running op, by rank of its unit: the HMX before the HVX before DMA.
// The file's own "Dominant Path Cycles" are the durations, 14,410 in all.
TEST_F(HexagonCases, TheDominantPathIsWithinTheWall) {
  const Analysis looked = open("34-optrace-247-lanes/chrometrace.json");
  EXPECT_THAT(column(looked, Grouping::op, "dominant path"),
              UnorderedElementsAre(Pair("linear", 2'150), Pair("pv", 1'010), Pair("softmax", 480),
                                   Pair("SystemService_0", 30)));
}

}  // namespace
}  // namespace npuscope::report::hexagon_cases_test
