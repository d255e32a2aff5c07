// What one rule says of a profile, and the numbers that it gives.
//
//   const Tried tried("spill", made.profile);
//   ASSERT_TRUE(tried.found());
//   EXPECT_EQ(tried.value("fill_work"), 20);
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

#include "analysis/memory/memory_builder.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/findings.hpp"

namespace npuscope::test_support {

struct Tried {
  analysis::Diagnosis diagnosis;

  Tried(std::string rule, const Profile& profile, analysis::DiagnoseOptions options = {}) {
    options.only = std::move(rule);
    diagnosis = analysis::Analysis(profile).findings(options);
  }

  bool found() const { return diagnosis.findings.size() == 1; }
  bool is_quiet() const { return diagnosis.quiet.size() == 1; }
  const analysis::Finding& finding() const { return diagnosis.findings.front(); }
  std::string missing() const {
    return diagnosis.untried.empty() ? "" : diagnosis.untried.front().missing;
  }
  // Of the first evidence of this key, and of this unit or op where that is asked for.
  double value(const std::string& key, const std::string& of = "") const {
    for (const analysis::Evidence& each : finding().evidence) {
      if (each.key == key && (of.empty() || each.of == of)) return each.value;
    }
    return std::numeric_limits<double>::quiet_NaN();
  }
  double gain() const { return finding().gain ? finding().gain->ticks : -1; }
};

// One core with an HMX, two HVX threads and a DMA engine.
struct CoreBuilder : MemoryBuilder {
  UnitId core, hmx, hvx, hvx1, issue, dma;

  explicit CoreBuilder(std::uint32_t number = 0, const char* clock = "cycles",
                       ClockKind kind = ClockKind::unit_cycles, double rate = 0)
      : MemoryBuilder(clock, kind, rate) {
    core = unit("core", Engine::core);
    hmx = unit("HMX", Engine::hmx, core);
    hvx = unit("HVX 0", Engine::hvx, core);
    hvx1 = unit("HVX 1", Engine::hvx, core);
    issue = unit("DMA issue", Engine::dma_issue, core);
    dma = unit("DMA", Engine::dma, core);
    for (Unit& each : profile.units) each.core = number;
  }
  void transfer(const char* name, std::int64_t start, std::int64_t end) {
    span(dma, name, start, end, SpanKind::transfer);
  }
};

}  // namespace npuscope::test_support
