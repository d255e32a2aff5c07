// The tables whose rows are numbered from 0: row_module.cpp serves them all.
#pragma once

#include <vector>

#include "query/table.hpp"

namespace npuscope::query {

TableType spans_table();
std::vector<TableType> run_tables();     // profile, files, clocks, units, unit_times, phases …
std::vector<TableType> graph_tables();   // ops, edges, tensors, tensor_uses
std::vector<TableType> number_tables();  // measures, counters, argument keys, span columns, flows

}  // namespace npuscope::query
