#include "report/programs/qpc_documents.hpp"

#include <fmt/format.h>

namespace npuscope::report {
namespace {

Section problems_section(const std::vector<Error>& problems) {
  Section section{.key = "problems"};
  section.table.fields = {{"message", ""}};
  for (const Error& problem : problems) section.table.rows.push_back({problem.message});
  return section;
}

Value name_or_none(const std::string& container) { return if_any(container); }

}  // namespace

Document qpc_listing_document(const qaic::QpcListing& listing) {
  Section container{.key = "container", .title = "CONTAINER"};
  container.facts = {
      {{"file", "file"}, listing.file},
      {{"version", "version"}, fmt::format("{}.{}", listing.major_version, listing.minor_version)},
      {{"bytes", "bytes", Format::count}, listing.bytes},
      {{"base", "", Format::count}, listing.base},
  };
  Section segments{.key = "segments", .title = "SEGMENTS"};
  segments.table.fields = {{"path", "segment"},
                           {"offset", "offset", Format::count},
                           {"bytes", "bytes", Format::count},
                           {"content", "content"}};
  for (const auto& segment : listing.segments) {
    segments.table.rows.push_back(
        {segment.path, segment.file_offset, segment.bytes, segment.content});
  }
  Document document;
  document.sections = {std::move(container), std::move(segments),
                       problems_section(listing.problems)};
  return document;
}

Document qpc_extraction_document(const qaic::QpcExtraction& extraction) {
  Section files{.key = "files", .title = "FILES"};
  files.table.fields = {{"path", "file"}, {"bytes", "bytes", Format::count}};
  for (const auto& file : extraction.files) {
    files.table.rows.push_back(
        {file.path, file.bytes.empty() ? file.text.size() : file.bytes.size()});
  }
  Document document;
  document.sections = {std::move(files), problems_section(extraction.problems)};
  return document;
}

Document qpc_validation_document(const qaic::QpcValidation& validation) {
  Section container{.key = "container", .title = "CONTAINER"};
  container.facts = {{{"file", "file"}, validation.file},
                     {{"valid", "valid", Format::truth}, validation.valid()}};
  Section checks{.key = "checks", .title = "CHECKS"};
  checks.table.fields = {{"verdict", "verdict"},
                         {"container", "container", Format::name, true, true},
                         {"check", "check"},
                         {"message", "finding"}};
  checks.table.names = 3;
  for (const auto& finding : validation.findings) {
    checks.table.rows.push_back({name_of(finding.verdict), name_or_none(finding.container),
                                 finding.check, finding.message});
  }
  Section programs{.key = "programs", .title = "PROGRAMS"};
  programs.table.fields = {{"container", "container", Format::name, true, true},
                           {"network", "network"},
                           {"nsps_required", "cores", Format::count}};
  for (const auto& program : validation.programs) {
    programs.table.rows.push_back(
        {name_or_none(program.container), program.network_name, program.nsps});
  }
  Document document;
  document.sections = {std::move(container), std::move(checks), std::move(programs)};
  return document;
}

}  // namespace npuscope::report
