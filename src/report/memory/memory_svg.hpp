// Memory as a picture: the roofline, and below it the traffic over time.
//
//   const auto svg = memory_svg(analysis, {.peaks = …}, {.width = 960});
//   write_file_atomically("memory.svg", as_byte_span(*svg));
//
// A circle is an op, its area the op's active time, its place the MACs per byte of DDR traffic
// and the MACs that it reached; both axes are logarithmic. The ceilings are the hardware's peaks,
// where they are known. The roofline is of one inference, as on the page; the traffic over time is
// of all.
#pragma once

#include <string>

#include "report/memory/memory_document.hpp"
#include "report/picture/figure.hpp"

namespace npuscope::report {

// The errors of make_memory_document(). What cannot be drawn is said in the picture.
Result<std::string> memory_svg(const analysis::Analysis& analysis, const MemoryRequest& request,
                               const PictureView& view);

}  // namespace npuscope::report
