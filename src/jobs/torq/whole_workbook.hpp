// Whether nothing is missing from a workbook. libxlsxwriter keeps each part in a temporary file and
// does not look whether that could be written: where the disk of TMPDIR is full, parts are cut, and
// the workbook is packed of what is left.
//
//   is_whole_workbook(file.bytes(), bytes_of_rows)   bytes_of_rows: of the sheet's <sheetData>, as
//   they were written
#pragma once

#include <cstdint>

#include "npuscope/base/files.hpp"

namespace npuscope::jobs {

bool is_whole_workbook(ByteSpan workbook, std::uint64_t bytes_of_rows);

}  // namespace npuscope::jobs
