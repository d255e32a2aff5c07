// An annotated run as a profile that is a Perfetto trace with the tracks of the vendor's:
//
//   Host                    HAL, NSS Programs, Host Programs, Host Copy, NSS Calls
//   NPU Task Breakdown      … (Compile): the compiler's estimate, from each program's measured
//   start NPU Task Measurements   DMA In Used …: the programs that use the unit Compiler Input
//   Locations   the programs of each source operator Operator Type Totals    how long programs with
//   an operator of the type ran Host Profile Overview   00 … 15: rows of the overview as slices
//
// Beside what the vendor's trace has: arrows from NSS_START to the program to NSS_WAIT, what moves
// from where to where, addresses and full locations as annotations, one track named NPU Task
// Breakdown and not two.
#pragma once

#include "formats/torq/annotate/annotate.hpp"
#include "formats/torq/overview.hpp"

namespace npuscope::torq {

// The rate at which the compiler's cycles are drawn: of the vendor's compile-time traces.
inline constexpr double compile_clock_mhz = 800;

// Times in nanoseconds. Estimates are left out where the dispatch has none.
Profile make_trace(const Annotation& annotation, double mhz = compile_clock_mhz);

Status write_annotated_trace(const Annotation& annotation, const std::filesystem::path& path,
                             double mhz = compile_clock_mhz);

}  // namespace npuscope::torq
