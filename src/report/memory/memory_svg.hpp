// Memory as a picture: the roofline, and below it the traffic over time.
//
//   const auto svg = memory_svg(analysis, {.peaks = …}, {.width = 960});
//   write_file_atomically("memory.svg", as_byte_span(*svg));
//
// A circle is an op, its area the op's active time, its place the MACs per byte of DDR traffic
// and the MACs that it reached; both axes are logarithmic. The ceilings are the hardware's peaks,
// where they are known.
#pragma once

#include <string>

#include "report/memory/memory_document.hpp"

namespace npuscope::report {

struct MemoryPictureView {
  double width = 960;      // pixels
  std::string scope = {};  // what of the profile it is; empty: all
};

// The errors of make_memory_document(); an input error where there is nothing to draw.
Result<std::string> memory_svg(const analysis::Analysis& analysis, const MemoryRequest& request,
                               const MemoryPictureView& view);

}  // namespace npuscope::report
