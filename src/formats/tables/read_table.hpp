// Tables of layers as their descriptions have them, made into profiles: ops in the order of their
// rows with their numbers, and a timeline where the table has starts.
//
//   if (const auto place = recognise_table(head, descriptions)) …
//   auto profiles = read_table(*source, descriptions[*place]);
//   (*profiles)[0].ops.size()                                          // 17
//
// A file may hold several tables, one below the other, each with its header: a profile each, but
// for those that repeat another row by row. Totals of the file are tried against the sums of their
// rows (Profile::checks).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/tables/description.hpp"
#include "npuscope/base/byte_source.hpp"

namespace npuscope::tables {

// The description that fits the text and asks for most; `head` is the begin of a file.
std::optional<std::size_t> recognise_table(
    std::string_view head, std::span<const TableDescription> descriptions = builtin_descriptions());

// Why the description does not fit: "no line has the heads 'time', 'core'".
std::string why_it_does_not_fit(std::string_view head, const TableDescription& description);

// An input error where no row is an op, or where the description says why it refuses the file.
Result<std::vector<Profile>> read_table(ByteSource& source, const TableDescription& description);

}  // namespace npuscope::tables
