// The annotated table of a Torq run as a spreadsheet, with the vendor's sheet and headings.
//
//   auto annotation = torq::annotate(log, debug);
//   auto written = write_annotated_xlsx(*annotation, "annotated.xlsx");
#pragma once

#include <filesystem>

#include "formats/torq/annotate/annotate.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::jobs {

// An output error beyond the 1,048,575 rows that a sheet holds.
Status write_annotated_xlsx(const torq::Annotation& annotation, const std::filesystem::path& path);

}  // namespace npuscope::jobs
