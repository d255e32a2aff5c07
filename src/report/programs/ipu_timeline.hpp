// What `npuscope ipu timeline` says about the logs that it made a timeline of:
//
//   log   records  layers   first to last  conv work  vector work  …
//   core 0  8,176      99        7.85 ms       5.1 ms
#pragma once

#include "formats/sigmastar/write_timeline.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

// Cycles; text shows them as time too.
Document make_ipu_timeline_document(const sigmastar::IpuTimeline& timeline,
                                    const std::string& output);

}  // namespace npuscope::report
