// npuscope memory as a document: what was moved between DDR, VTCM and cores, by op and over time,
// against what the hardware can do.
//
//   ROOFLINE     verdict, shares of the time that each resource needs at least
//   TRAFFIC      by route: bytes, bandwidth, where from, what does not add up
//   INFERENCES   of several: the first, the median of the rest
//   OPS          by operator: bytes, MACs, intensity, verdict
//   OVER TIME    bytes a second in buckets, as bars
//   TRANSFERS    by size; small ones
//   ENGINES      bytes by what moved them
//   SPILL        written to DDR for want of room, read back, exposed or hidden
//   VTCM         the most in use
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/memory.hpp"
#include "report/document/document.hpp"
#include "report/memory/peaks.hpp"
#include "report/picture/figure.hpp"

namespace npuscope::report {

struct MemoryRequest {
  PeakText peaks;
  analysis::MemoryGrouping grouping = analysis::MemoryGrouping::op;
  std::vector<analysis::NodeMacs> model;
  bool is_part = false;      // units or ops were left out: they share the memory with the rest
  std::size_t top = 15;      // rows of the op table and of the pairs of spill
  std::size_t buckets = 60;  // over time
  std::size_t width = 100;   // columns that a picture may have
};

// Buckets over time that a picture of this width has a column for.
std::size_t buckets_that_fit(std::size_t width);

// Usage errors: peaks that cannot be read.
Result<Document> make_memory_document(const analysis::Analysis& analysis,
                                      const MemoryRequest& request);

// MACs of each node of an ONNX model; `symbols` are "name,value". The errors of the import.
Result<std::vector<analysis::NodeMacs>> macs_of_model(const std::string& file,
                                                      const std::vector<std::string>& symbols);

// The roofline of a table of memory, drawn into a picture.

// False, and only a remark, where no op has MACs, bytes of DDR and a time.
bool draw_roofline(Figure& figure, const Profile& profile, const analysis::MemoryTable& table);

// Memory as a picture: the roofline, and below it the traffic over time.
//
//   const auto svg = memory_svg(analysis, {.peaks = …}, {.width = 960});
//   write_file_atomically("memory.svg", as_byte_span(*svg));
//
// A circle is an op, its area the op's active time, its place the MACs per byte of DDR traffic
// and the MACs that it reached; both axes are logarithmic. The ceilings are the hardware's peaks,
// where they are known. The roofline is of one inference, as on the page; the traffic over time is
// of all.

// The errors of make_memory_document(). What cannot be drawn is said in the picture.
Result<std::string> memory_svg(const analysis::Analysis& analysis, const MemoryRequest& request,
                               const PictureView& view);

}  // namespace npuscope::report
