// Operator traces of Cloud AI 100, in Chrome Trace Event JSON, as profiles:
//
//   qaic-opstats (SDK 1.17 and later, and npuscope opstats)    <buffer>.qaic-opstats.trace.json
//   the runtime of SDK 1.10 and 1.12                           aic-profiling-program-P-trace.json
//
//   auto events = chrome::read_events(*source);
//   if (is_opstats_trace(*events)) Profile profile = make_opstats_profile(std::move(*events));
//
//   track QAicGraph_slice01_Core_3       unit core 3 of device 1, its spans of kind inference
//   …_Core_3_HVX, _HMX, _DMAIssue        units of those engines: op and sync spans
//   …_Core_3_DMAIssue_DMA, _DMA_1 …      a unit of engine dma below DMAIssue: transfer spans
//   …_Core_3_HVX_Barrier                 barrier spans of the unit HVX
//   a process without such names         units of the host
//   flow of category "true", "false"     an edge between ops, data or reuse, and a flow
//   a pair of P2P ops                    an edge of kind transfer
//   counter Freq                         a counter series of the core
//
// The base clock is the 19.2 MHz UTIMER: durations are exact (opUCycle), times are those of the
// file to a tick. A wait is [ts, ts + opSyncDurUs], whether the file draws it or not. What args say
// about an operator is in the profile's ops, cycles in their column; ratios of these
// (effectiveFreq, PCyclesPerKB, UCyclesPerKB) are dropped where they are what they claim. All else
// stays with the spans as arguments. docs/formats/opstats.md says how names are understood.
#pragma once

#include "formats/chrome/events.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::qaic {

bool is_opstats_trace(const chrome::Events& events);

Profile make_opstats_profile(chrome::Events&& events);

}  // namespace npuscope::qaic
