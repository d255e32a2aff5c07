#include "report/fleet/fleet_added.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "fleet/tags.hpp"

namespace npuscope::report {

Document fleet_added_document(const FleetAdded& what) {
  Section section{.key = "added", .title = "ADDED"};
  section.facts = {{{"store", "store"}, what.store},
                   {{"runs", "runs added", Format::count}, what.added.runs},
                   {{"known", "known runs", Format::count}, what.added.known},
                   {{"op_runs", "op runs added", Format::count}, what.added.op_runs},
                   {{"damaged", "damaged runs", Format::count}, what.damaged},
                   {{"sets", "sets of files", Format::count}, what.sets},
                   {{"unopened", "sets without a profile", Format::count}, what.unopened},
                   {{"other_tags", "", Format::count}, what.added.other_tags.size()}};
  if (!what.added.other_tags.empty()) {
    section.remarks.push_back(
        fmt::format("{} runs were known with other tags, which stay: a run is known by the content "
                    "of its files",
                    thousands(what.added.other_tags.size())));
  }
  Document document;
  document.sections = {std::move(section)};
  return document;
}

Document fleet_removed_document(const FleetRemoved& what) {
  Section section{.key = "removed", .title = what.is_dry_run ? "WOULD BE REMOVED" : "REMOVED"};
  section.facts = {{{"store", "store"}, what.store},
                   {{"before", "recorded before"}, fleet::time_text(what.before)},
                   {{"runs", "runs", Format::count}, what.removed.runs},
                   {{"op_runs", "op runs", Format::count},
                    what.is_dry_run ? Value() : Value(what.removed.op_runs)},
                   {{"dry_run", "", Format::truth}, what.is_dry_run}};
  Document document;
  document.sections = {std::move(section)};
  return document;
}

Document fleet_written_document(const FleetWritten& what) {
  Section section{.key = "written", .title = "WRITTEN"};
  section.facts = {{{"store", "store"}, what.store},
                   {{"output", "output"}, what.output},
                   {{"files", "files", Format::count}, what.files},
                   {{"bytes", "size", Format::bytes}, what.bytes}};
  Document document;
  document.sections = {std::move(section)};
  return document;
}

}  // namespace npuscope::report
