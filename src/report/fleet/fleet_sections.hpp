// What the pages of a fleet share.
#pragma once

#include "report/fleet/fleet_document.hpp"

namespace npuscope::report {

// STORE: its name, what was chosen, how many runs.
Section fleet_head(const FleetHead& head, std::uint64_t runs,
                   const std::vector<std::string>& remarks);

Value cell_of(const fleet::Value& value);
// Fields of --by, and their cells.
void add_group_fields(Table& table, const std::vector<std::string>& by);
std::vector<Value> group_cells(const std::vector<fleet::Value>& by);
template <class T>
void append(std::vector<Value>& row, std::initializer_list<T> cells) {
  row.insert(row.end(), cells);
}

// " by device, build", or nothing.
std::string by_text(const std::vector<std::string>& by);

// "the median run of pixel-17: npuscope show a.bin program.bin"
std::string how_to_open(const fleet::MedianRun& run, const std::vector<fleet::Value>& by);
std::string first_file(const fleet::MedianRun& run);

// The format of a time in the unit that runs have in common.
Format format_of(fleet::CommonClock::Unit unit);

Value time_value(const std::optional<std::int64_t>& seconds);

}  // namespace npuscope::report
