#include "report/compare/gate_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace npuscope::report::gate_text_test {
namespace {

using analysis::Gate;
using analysis::MeasuredIn;
using ::testing::HasSubstr;

TEST(GateText, AShareOfTheChange) {
  const Gate gate = *read_gate("wall > +3%");
  EXPECT_EQ(gate.text, "wall > +3%");
  EXPECT_EQ(gate.metric, "wall");
  EXPECT_EQ(gate.comparator, Gate::Comparator::more);
  EXPECT_EQ(gate.limit, Gate::Limit::share);
  EXPECT_DOUBLE_EQ(gate.threshold, 0.03);
  EXPECT_EQ(read_gate("wall>3 %")->limit, Gate::Limit::share);  // a percentage always is
}

TEST(GateText, ASignMakesItTheChange) {
  EXPECT_EQ(read_gate("wall > +5us")->limit, Gate::Limit::change);
  EXPECT_EQ(read_gate("wall > 5us")->limit, Gate::Limit::value);
  EXPECT_DOUBLE_EQ(read_gate("wall > 5us")->threshold, 5e-6);
  EXPECT_EQ(read_gate("wall > 5us")->unit, MeasuredIn::seconds);
  EXPECT_EQ(read_gate("wall <= -1000cyc")->threshold, -1000);
  EXPECT_EQ(read_gate("wall <= -1000cyc")->unit, MeasuredIn::cycles);
  EXPECT_EQ(read_gate("ddr_read_bytes >= +1MiB")->threshold, 1024 * 1024);
  EXPECT_EQ(read_gate("count(ops) > 12")->metric, "count(ops)");
  EXPECT_FALSE(read_gate("count(ops) > 12")->unit);
}

TEST(GateText, NamesOfAllForms) {
  EXPECT_EQ(read_gate("busy(DMA issue) > 1%")->metric, "busy(DMA issue)");
  EXPECT_EQ(read_gate("'a > b' > 1%")->metric, "a > b");
  EXPECT_EQ(read_gate("\"it's\" > 1%")->metric, "it's");
  EXPECT_EQ(read_gate("phase(Graph Execute) > 1%")->metric, "phase('Graph Execute')");
  EXPECT_EQ(read_gate("phase('Graph Execute') > 1%")->metric, "phase('Graph Execute')");
}

TEST(GateText, Ops) {
  const Gate gate = *read_gate("op('MatMul|Conv').work >= -2.5%");
  ASSERT_TRUE(gate.op);
  EXPECT_TRUE(gate.op->found_in("/layer/Conv_3"));
  EXPECT_EQ(gate.metric, "work");
  EXPECT_DOUBLE_EQ(gate.threshold, -0.025);
  EXPECT_EQ(read_gate("op('x') > 1%")->metric, "");
  EXPECT_EQ(read_gate("op('x').dominant_path > 1%")->metric, "dominant path");
  EXPECT_EQ(read_gate("op('x').'a_b' > 1%")->metric, "a_b");
}

TEST(GateText, AStatisticFollowsADot) {
  using Statistic = Gate::Statistic;
  const auto statistic = [](const char* text) { return read_gate(text)->statistic; };
  EXPECT_EQ(statistic("wall > 1ms"), Statistic::usual);
  EXPECT_EQ(statistic("wall.max > 1ms"), Statistic::max);
  EXPECT_EQ(read_gate("wall.max > 1ms")->metric, "wall");
  EXPECT_EQ(statistic("wall.median > 1ms"), Statistic::percentile);
  EXPECT_EQ(read_gate("wall.p95 > +1%")->percent, 95);
  EXPECT_EQ(read_gate("busy(DMA issue).p90 > 1ms")->metric, "busy(DMA issue)");
  EXPECT_EQ(read_gate("phase('Graph Execute').min > 1ms")->metric, "phase('Graph Execute')");
  EXPECT_EQ(statistic("phase('Graph Execute').min > 1ms"), Statistic::min);
  EXPECT_EQ(read_gate("op('x').work.max > 1ms")->metric, "work");
  EXPECT_EQ(read_gate("op('x').max > 1ms")->metric, "");
  EXPECT_EQ(statistic("op('x').max > 1ms"), Statistic::max);
  // A name in quotes is as it stands in the file.
  EXPECT_EQ(read_gate("'a.max' > 1")->metric, "a.max");
  EXPECT_EQ(statistic("'a.max' > 1"), Statistic::usual);
  EXPECT_EQ(statistic("'RPC time'.max > 1ms"), Statistic::max);
  EXPECT_EQ(read_gate("kernel.v2 > 1")->metric, "kernel.v2");
}

TEST(GateText, APercentageOfAShareIsOfTheWall) {
  const Gate gate = *read_gate("share(DMA) > 10 %");
  EXPECT_EQ(gate.limit, Gate::Limit::value);
  EXPECT_EQ(gate.unit, MeasuredIn::share);
  EXPECT_DOUBLE_EQ(gate.threshold, 0.1);
  EXPECT_EQ(read_gate("share(DMA) > +10 %")->limit, Gate::Limit::share);
}

TEST(GateText, ARequirementFailsWhereItDoesNotHold) {
  using Comparator = Gate::Comparator;
  const auto comparator = [](const char* text) {
    return read_gate(text, GateForm::require, "--require")->comparator;
  };
  EXPECT_EQ(comparator("wall < 3ms"), Comparator::at_least);
  EXPECT_EQ(comparator("wall <= 3ms"), Comparator::more);
  EXPECT_EQ(comparator("wall > 3ms"), Comparator::at_most);
  EXPECT_EQ(comparator("wall >= 3ms"), Comparator::less);
  EXPECT_THAT(read_gate("wall", GateForm::require, "--require").error().message,
              HasSubstr("--require 'wall': "));
}

TEST(GateText, DecimalUnitsOfBytes) {
  EXPECT_EQ(read_gate("ddr_read_bytes > 20 MB")->threshold, 20e6);
  EXPECT_EQ(read_gate("ddr_read_bytes > 20 MiB")->threshold, 20.0 * 1024 * 1024);
}

TEST(GateText, WhatMakesNoSenseIsSaid) {
  const auto error = [](const char* text) {
    const auto gate = read_gate(text);
    EXPECT_FALSE(gate) << text;
    if (gate) return std::string();
    EXPECT_EQ(gate.error().kind, ErrorKind::usage);
    return gate.error().message;
  };
  EXPECT_THAT(error(""), HasSubstr("does not begin with a metric"));
  EXPECT_THAT(error("> 3%"), HasSubstr("does not begin with a metric"));
  EXPECT_THAT(error("wall"), HasSubstr("no >, >=, < or <="));
  EXPECT_THAT(error("wall = 3%"), HasSubstr("no >, >=, < or <="));
  EXPECT_THAT(error("wall >"), HasSubstr("no number"));
  EXPECT_THAT(error("wall > nan"), HasSubstr("no number"));
  EXPECT_THAT(error("wall > +-3%"), HasSubstr("no number"));
  EXPECT_THAT(error("wall > 1e999"), HasSubstr("no number"));
  EXPECT_THAT(error("wall > 3 furlongs"), HasSubstr("unknown unit 'furlongs'"));
  EXPECT_THAT(error("wall > 3% wall"), HasSubstr("unknown unit"));
  EXPECT_THAT(error("op(MatMul) > 1%"), HasSubstr("in quotes"));
  EXPECT_THAT(error("op('a' > 1%"), HasSubstr("')' is missing"));
  EXPECT_THAT(error("op('a'). > 1%"), HasSubstr("column is missing"));
  EXPECT_THAT(error("op('(') > 1%"), HasSubstr("--fail-if op()"));
}

TEST(GateText, WhatPeopleGate) {
  EXPECT_EQ(read_gate("latency > +3%")->metric, "latency");
  EXPECT_EQ(read_gate("device_latency > 5ms")->metric, "device_latency");
  EXPECT_EQ(read_gate("p95 > 5 ms")->threshold, 5e-3);
  EXPECT_EQ(read_gate("throughput < 100")->metric, "throughput");
  EXPECT_EQ(read_gate("findings(high) > 0")->metric, "findings(high)");
  EXPECT_EQ(read_gate("findings('host-overhead') > +0")->metric, "findings('host-overhead')");
  EXPECT_EQ(read_gate("phase('a) > (b') > 1%")->metric, "phase('a) > (b')");
  EXPECT_EQ(read_gate("op('Mat.*') > 1%")->op_text, "Mat.*");
}

// Pieces of gates in any order, cut anywhere, with bytes that belong in none: each is a gate whose
// parts are sound, or one sentence.
TEST(GateText, AnyTextIsAGateOrASentence) {
  constexpr const char* pieces[] = {"wall",
                                    "latency",
                                    "op(",
                                    "phase(",
                                    "findings(",
                                    ")",
                                    "'",
                                    "\"",
                                    ".",
                                    "work",
                                    ">",
                                    ">=",
                                    "<",
                                    "<=",
                                    "=",
                                    "+",
                                    "-",
                                    "3",
                                    "1e308",
                                    "1e999",
                                    "0x1p4",
                                    "inf",
                                    "nan",
                                    "%",
                                    "ms",
                                    "cyc",
                                    "KiB",
                                    " ",
                                    "\t",
                                    "\n",
                                    "(",
                                    "[",
                                    "\\",
                                    "{2000}",
                                    "*",
                                    "\xff\xfe",
                                    "\xe2\x80\xa6",
                                    "\x1b[0m",
                                    ","};
  std::mt19937 random(20);
  std::size_t gates = 0;
  const auto check = [&](const std::string& text) {
    const auto gate = read_gate(text);
    if (!gate) {
      EXPECT_EQ(gate.error().kind, ErrorKind::usage);
      EXPECT_THAT(gate.error().message, HasSubstr("--fail-if"));
      return;
    }
    ++gates;
    EXPECT_TRUE(std::isfinite(gate->threshold)) << text;
    EXPECT_TRUE(gate->op || !gate->metric.empty()) << text;
    const auto again = read_gate(gate->text);  // trimmed, it is the same gate
    ASSERT_TRUE(again) << text;
    EXPECT_EQ(again->metric, gate->metric);
    EXPECT_EQ(again->threshold, gate->threshold);
  };
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (std::size_t left = random() % 9; left > 0; --left) {
      text += pieces[random() % std::size(pieces)];
    }
    check(text);
  }
  for (const std::string valid : {"op('MatMul|Conv').work >= -2.5%", "phase('Graph Execute') > 5ms",
                                  "'RPC (execute) time' > +10%", "findings(high) > 0"}) {
    for (int i = 0; i < 5'000; ++i) {
      std::string text = valid;
      for (std::size_t edits = 1 + random() % 3; edits > 0 && !text.empty(); --edits) {
        const std::size_t at = random() % text.size();
        switch (random() % 3) {
          case 0: text[at] = char(random()); break;
          case 1: text.erase(at, 1 + random() % 4); break;
          default: text.insert(at, 1, char(random())); break;
        }
      }
      check(text);
    }
  }
  EXPECT_GT(gates, 1000u);
}

}  // namespace
}  // namespace npuscope::report::gate_text_test
