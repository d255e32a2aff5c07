// Where the time of Torq's runs went, and the compiler's estimates beside measured times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/torq/annotate/compare.hpp"
#include "formats/torq/overview.hpp"
#include "formats/torq/trace.hpp"
#include "npu/targets/torq/compile.hpp"
#include "npu/targets/torq/execute.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

// The compiler's estimates, and programs' measured times beside theirs.
struct TorqEstimate {
  std::string file, dispatch;  // empty: not known
  std::size_t operations = 0;
  std::int64_t cycles = 0;
};

struct TorqComparison {
  std::string file;      // the runtime log
  std::string coverage;  // what of the run it is of; empty: all
  std::vector<torq::ProgramComparison> programs;
};

struct TorqTimelineAnswer {
  std::vector<TorqComparison> comparisons;
  std::vector<TorqEstimate> estimates;
};

struct TorqTimelineOptions {
  std::optional<double> mhz{};  // that estimates are taken at; none: they stay cycles
  std::size_t top = 20;         // programs
};

Document torq_timeline_document(TorqTimelineAnswer answer, const TorqTimelineOptions& options);

// Where the time of runs went: a section an overview, and what its rows mean.

Document overview_document(std::span<const torq::Overview> overviews, torq::OverviewStyle style);
// "Dma   any of DMA In, DMA Out and CDMA in use", a line each.
std::string overview_meanings(std::span<const torq::Overview> overviews, torq::OverviewStyle style);

// What `npuscope compile` and `npuscope run` say of a program for a Torq NPU.

// Dispatches with the compiler's estimates, the longest first; `top` in the text, all in JSON.
Document torq_compilation_document(const npu::torq::Compilation& compilation,
                                   const npu::torq::Target& target, std::size_t top);

// The time of an inference, what it went to, and what only a simulator knows: each unit's time.
Document torq_run_document(const npu::torq::Program& program, const npu::torq::Target& target,
                           const npu::torq::Run& run);

}  // namespace npuscope::report
