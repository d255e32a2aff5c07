#include "report/memory/memory_document.hpp"

#include <algorithm>

#include "report/document/provenance.hpp"
#include "report/document/scope.hpp"
#include "report/memory/memory_answer.hpp"
#include "report/memory/memory_sections.hpp"

namespace npuscope::report {

Result<MemoryAnswer> memory_answer(const analysis::Analysis& analysis,
                                   const MemoryRequest& request) {
  const auto found = find_peaks(analysis.profile(), request.peaks);
  if (!found) return tl::unexpected(found.error());
  analysis::MemoryOptions options;
  options.peaks = found->peaks;
  options.rate = found->clock;
  options.model = request.model;
  options.grouping = request.grouping;
  analysis::MemoryTable table = analysis.memory(options);
  if (table.is_of_other_model()) {
    return input_error(
        "--model: not the model of this profile: {} of {} ops that it names have other MACs by "
        "their shapes; name the one that was compiled, and its sizes (--onnx-define-symbol)",
        table.rows_that_differ, table.rows_with_both);
  }
  return MemoryAnswer{found->peaks, std::move(table)};
}

Result<Document> make_memory_document(const analysis::Analysis& analysis,
                                      const MemoryRequest& request) {
  const Profile& profile = analysis.profile();
  const auto answer = memory_answer(analysis, request);
  if (!answer) return tl::unexpected(answer.error());
  const auto& [peaks, table] = *answer;
  const analysis::OpTraffic& traffic = analysis.traffic();

  Document document;
  document.profile = &profile;
  document.scope = scope_of_each(profile);
  const auto put = [&](Section section) {
    const bool empty = section.facts.empty() && section.table.rows.empty() &&
                       section.remarks.empty() && section.drawing.empty();
    if (!empty) document.sections.push_back(std::move(section));
  };
  const bool says_anything = traffic.any() || table.work.all_macs() > 0;
  if (says_anything && table.wall > 0) {
    put(roofline_section(profile, table, peaks, request.is_part));
  }
  put(traffic_section(profile, traffic, table));
  put(constants_section(profile));
  put(memory_inferences_section(table, request.top));
  if (says_anything) put(memory_ops_section(profile, table, request.top));
  if (traffic.any_of_ops()) {
    put(over_time_section(analysis.bandwidth(request.buckets), table, request.width));
    put(transfers_section(analysis.transfers(), table));
    put(engines_section(table));
  }
  put(spill_section(profile, analysis.spill(), table, request.top));
  put(vtcm_section(profile, peaks));
  const bool answers =
      says_anything ||
      std::any_of(document.sections.begin(), document.sections.end(), [](const Section& section) {
        return section.key != "traffic" && section.key != "inferences";
      });
  if (!answers) {
    return input_error("{}: says nothing of bytes that were moved; {}", files_text(profile),
                       how_to_get_bytes(profile));
  }
  return document;
}

}  // namespace npuscope::report
