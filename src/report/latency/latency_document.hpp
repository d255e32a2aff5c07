// The answer of `npuscope latency`: percentiles of every step of an inference, and what the host
// makes of the device's throughput.
//
//   LATENCY of 50 samples
//     step              kind      mean     least      50 %      99 %      most
//     device execution  wall  23.05 ms  22.47 ms  22.80 ms  25.39 ms  25.81 ms
//   THROUGHPUT
//     device 43.38 batches/s, system 42.66: 1.7 % less
#pragma once

#include "analysis/latency.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

// What the page and the picture show. An input error for a profile of no latency file.
Result<analysis::Latency> latency_answer(const analysis::Analysis& analysis);

// The errors of latency_answer().
Result<Document> latency_document(const analysis::Analysis& analysis);

}  // namespace npuscope::report
