// What `npuscope tables` prints: the descriptions of tables that are known, whether files are such
// descriptions, and one that was drafted.
//
//   DESCRIPTIONS
//     file                          name                      reads  times      layout
//     tables/scalesim_compute.toml  SCALE-Sim compute report  ops    simulated  csv
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/tables/draft.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

Document descriptions_document(const std::vector<tables::TableDescription>& descriptions);

struct CheckedDescription {
  std::string file;
  std::optional<tables::TableDescription> description;
  std::string problem;  // where there is none
};
Document checked_document(const std::vector<CheckedDescription>& checked);

Document draft_document(const tables::Draft& draft);

}  // namespace npuscope::report
