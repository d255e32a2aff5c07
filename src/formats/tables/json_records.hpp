// JSON with lists of objects that are rows, as records (records.hpp).
#pragma once

#include "formats/tables/records.hpp"

namespace npuscope::tables {

// An input error for a file that is not JSON, or of more than 256 MiB.
Result<std::unique_ptr<Records>> open_json_records(ByteSource& source,
                                                   const TableDescription& description);

}  // namespace npuscope::tables
