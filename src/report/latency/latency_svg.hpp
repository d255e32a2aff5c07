// Latency as a picture: how each step of an inference is spread.
//
//   const auto svg = latency_svg(analysis, {.width = 960});
//   write_file_atomically("latency.svg", as_byte_span(*svg));
//
// A histogram for each step with samples, the median and the tail marked; where a file has only
// statistics, a line from min to max with its percentiles. Each step has its own axis, because
// steps differ by powers of ten.
#pragma once

#include <string>

#include "npuscope/analysis/analysis.hpp"
#include "report/picture/picture_heading.hpp"

namespace npuscope::report {

// The errors of latency_document().
Result<std::string> latency_svg(const analysis::Analysis& analysis, const PictureView& view);

// How many samples lie in each of `bins` equal parts of [low, high], the ends included.
std::vector<std::uint64_t> histogram_of(const std::vector<double>& samples, double low, double high,
                                        std::size_t bins);

}  // namespace npuscope::report
