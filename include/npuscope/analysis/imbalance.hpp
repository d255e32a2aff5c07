// Whether like parts of the hardware carry like loads, told apart by what is compared:
//
//   static    ops and output bytes that the compiler assigned
//   DDR       bytes read and written: as the cores counted them, else those of their ops
//   work      what they cost when they ran, sum over the units of the part
//   waiting   what the parts waited
//
//   for (const ImbalanceRow& row : analysis.imbalance()) …
//   row.parts        // "cores": 14 of them
//   row.what         // "work"
//   row.excess()     // 0.16: the most loaded has 16 % more than the mean
//
// Equal waits tell nothing of the loads, and equal walls hide them: parts that finish early wait
// for the others. The op that writes the statistics, and the waits of it, are of the measurement
// and count nowhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {

struct ImbalanceRow {
  std::string parts;  // "cores", "devices", "HVX"; where a class has several kinds, "dma load"
  std::string what;   // "work", "waiting", "ops", "output bytes", "DDR bytes"
  MeasureKind kind = MeasureKind::count;
  NumberQuantity quantity = NumberQuantity::count;
  std::uint32_t members = 0;
  double mean = 0, min = 0, max = 0;
  std::string most_loaded = {}, least_loaded = {};  // empty where all carry the same

  std::optional<double> excess() const {
    return mean > 0 ? std::optional(max / mean - 1) : std::nullopt;
  }
};

// Of cores and devices, and of the units of each class that are named alike but for their number,
// where there are two or more.

// An operator that only one core works on while others could.
struct OneCoreOp {
  std::string name;
  StringId kind{};
  std::string core;
  double active = 0;  // ticks in which it ran
  double work = 0;
  bool kind_is_on_all = false;  // its kernel runs on every core elsewhere
};

}  // namespace npuscope::analysis
