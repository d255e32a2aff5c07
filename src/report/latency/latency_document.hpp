// The answer of `npuscope latency`: percentiles of every step of an inference, and what the host
// makes of the device's throughput.
//
//   LATENCY of 50 samples
//     step              kind      mean     least      50 %      99 %      most
//     device execution  wall  23.05 ms  22.47 ms  22.80 ms  25.39 ms  25.81 ms
//   THROUGHPUT
//     device 43.38 batches/s, system 42.66: 1.7 % less
#pragma once

#include <string>
#include <string_view>

#include "analysis/latency.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "report/document/document.hpp"
#include "report/picture/figure.hpp"

namespace npuscope::report {

// What a gap between the throughput of the device and that of the system comes from, in a sentence
// or two with advice.

const char* stable_name(analysis::ThroughputGap cause);
std::string_view throughput_explanation(const analysis::Throughput& throughput);

// What the page and the picture show. An input error for a profile of no latency file.
Result<analysis::Latency> latency_answer(const analysis::Analysis& analysis);

// The errors of latency_answer().
Result<Document> latency_document(const analysis::Analysis& analysis);

// Latency as a picture: how each step of an inference is spread.
//
//   const auto svg = latency_svg(analysis, {.width = 960});
//   write_file_atomically("latency.svg", as_byte_span(*svg));
//
// A histogram for each step with samples, the median and the tail marked; where a file has only
// statistics, a line from min to max with its percentiles. Each step has its own axis, because
// steps differ by powers of ten.

// The errors of latency_document().
Result<std::string> latency_svg(const analysis::Analysis& analysis, const PictureView& view);

// How many samples lie in each of `bins` equal parts of [low, high], the ends included.
std::vector<std::uint64_t> histogram_of(const std::vector<double>& samples, double low, double high,
                                        std::size_t bins);

}  // namespace npuscope::report
