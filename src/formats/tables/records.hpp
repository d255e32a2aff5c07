// The records of a file with tables, one at a time, whatever the layout: a header, a row, or a line
// that is neither, which is one field.
//
//   auto records = open_records(source, description, losses);
//   while ((*records)->next()) take((*records)->fields(), (*records)->offset());
//
// Of JSON, a list of objects with the wanted keys is a header and a row each; any other value is a
// line, "results/latency (ms): 3.90".
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "formats/tables/description.hpp"
#include "npuscope/base/byte_source.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::tables {

using Fields = std::vector<std::string_view>;  // valid until the next record

class Records {
 public:
  virtual ~Records() = default;
  virtual bool next() = 0;
  virtual const Fields& fields() const = 0;
  virtual std::uint64_t offset() const = 0;
  // The record as it stands in a log; empty: its fields are all there is.
  virtual std::string_view line() const { return {}; }
  // Why the file broke off.
  virtual const std::optional<Error>* error() const = 0;
};

// An input error for what is not JSON where it should be.
Result<std::unique_ptr<Records>> open_records(ByteSource& source,
                                              const TableDescription& description,
                                              CountedNotes& losses);

// Heads are compared as people read them: a line end in a quoted head is a blank.
std::string plain_head(std::string_view text);

}  // namespace npuscope::tables
