#include "report/jobs/qpc_report.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "report/document/json_text.hpp"

namespace npuscope::report {
namespace {

using nlohmann::ordered_json;

std::uint64_t size_of(const qaic::ExtractedFile& file) {
  return file.bytes.empty() ? file.text.size() : file.bytes.size();
}

std::string in_container(const std::string& container, const std::string& text) {
  return container.empty() ? text : printable(container) + ": " + text;
}

}  // namespace

std::string qpc_listing_text(const qaic::QpcListing& listing) {
  std::string out = fmt::format("{}: QPC {}.{}, {} bytes, {} segments\n", printable(listing.file),
                                listing.major_version, listing.minor_version,
                                thousands(listing.bytes), listing.segments.size());
  std::vector<std::string> paths;
  std::size_t width = std::string_view("segment").size();
  for (const auto& segment : listing.segments) {
    paths.push_back(printable(segment.path));
    width = std::max(width, paths.back().size());
  }
  if (!paths.empty()) {
    out += fmt::format("\n{:>16}{:>16}  {:<{}}  content\n", "offset", "bytes", "segment", width);
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto& segment = listing.segments[i];
    out += fmt::format("{:>16}{:>16}  {:<{}}  {}\n", thousands(segment.file_offset),
                       thousands(segment.bytes), paths[i], width, segment.content);
  }
  return out;
}

std::string qpc_listing_json(const qaic::QpcListing& listing) {
  ordered_json json;
  json["file"] = listing.file;
  json["bytes"] = listing.bytes;
  json["version"] = fmt::format("{}.{}", listing.major_version, listing.minor_version);
  json["base"] = listing.base;
  json["segments"] = ordered_json::array();
  for (const auto& segment : listing.segments) {
    json["segments"].push_back({{"path", segment.path},
                                {"offset", segment.file_offset},
                                {"bytes", segment.bytes},
                                {"content", segment.content}});
  }
  json["problems"] = ordered_json::array();
  for (const Error& problem : listing.problems) json["problems"].push_back(problem.message);
  return json_text(json);
}

std::string qpc_extraction_text(const qaic::QpcExtraction& extraction) {
  std::string out;
  for (const auto& file : extraction.files) {
    out += fmt::format("{:>16}  {}\n", thousands(size_of(file)), printable(file.path));
  }
  return out;
}

std::string qpc_extraction_json(const qaic::QpcExtraction& extraction) {
  ordered_json json;
  json["files"] = ordered_json::array();
  for (const auto& file : extraction.files) {
    json["files"].push_back({{"path", file.path}, {"bytes", size_of(file)}});
  }
  json["problems"] = ordered_json::array();
  for (const Error& problem : extraction.problems) json["problems"].push_back(problem.message);
  return json_text(json);
}

std::string qpc_validation_text(const qaic::QpcValidation& validation) {
  std::string out = fmt::format("{}: {}\n\n", printable(validation.file),
                                validation.valid() ? "valid" : "INVALID");
  for (const auto& finding : validation.findings) {
    out += fmt::format("{:<8} {:<11} {}\n", name_of(finding.verdict), finding.check,
                       in_container(finding.container, printable(finding.message)));
  }
  if (!validation.programs.empty()) out += '\n';
  for (const auto& program : validation.programs) {
    out +=
        in_container(program.container, fmt::format("Number of NSP required: {}\n", program.nsps));
  }
  return out;
}

std::string qpc_validation_json(const qaic::QpcValidation& validation) {
  ordered_json json;
  json["file"] = validation.file;
  json["valid"] = validation.valid();
  json["findings"] = ordered_json::array();
  for (const auto& finding : validation.findings) {
    json["findings"].push_back({{"verdict", name_of(finding.verdict)},
                                {"container", finding.container},
                                {"check", finding.check},
                                {"message", finding.message}});
  }
  json["programs"] = ordered_json::array();
  for (const auto& program : validation.programs) {
    json["programs"].push_back({{"container", program.container},
                                {"network", program.network_name},
                                {"nsps_required", program.nsps}});
  }
  return json_text(json);
}

}  // namespace npuscope::report
