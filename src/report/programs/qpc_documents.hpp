// What `npuscope qpc` prints of a program container: its segments, the files taken out of it, and
// what was checked.
//
//   SEGMENTS
//     segment              offset   bytes  content
//     networkdesc.bin         424     230  network descriptor
//
// What is broken inside is told as an error beside the page; JSON and CSV have it as `problems`.
#pragma once

#include "formats/qaic/qpc/qpc_contents.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

Document qpc_listing_document(const qaic::QpcListing& listing);
Document qpc_extraction_document(const qaic::QpcExtraction& extraction);
Document qpc_validation_document(const qaic::QpcValidation& validation);

}  // namespace npuscope::report
