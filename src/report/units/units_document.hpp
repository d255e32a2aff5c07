// The tables of `npuscope units`: how busy the hardware was, what it waited for, what ran beside
// what, and whether like parts carried like loads.
//
//   HARDWARE, in cycles; the busiest unit of a class bounds it, not their sum
//     class      units  domain  of wall  active    work  use is      busiest unit
//     HMX            1  12,312   19.0 %  12,312  12,312  structure …  HTP > core 0 > HMX 256
//   OVERLAP, in cycles
//     a    b          both  of the smaller
//     HMX  HVX      10,020          81.4 %
#pragma once

#include <cstdint>

#include "npuscope/analysis/analysis.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

enum class UnitsBy : std::uint8_t { unit, core, engine, device };

struct UnitsRequest {
  UnitsBy by = UnitsBy::unit;  // rows of the table of units
  std::size_t top = 20;        // of ops on one core only, and of units; 0: all
};

// A usage error for a profile that says nothing about units.
Result<Document> units_document(const analysis::Analysis& analysis, const UnitsRequest& request);

}  // namespace npuscope::report
