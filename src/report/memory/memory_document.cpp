#include "report/memory/memory_document.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "base/text.hpp"
#include "base/try.hpp"
#include "npu/graph/import_onnx.hpp"
#include "npu/graph/semantics.hpp"
#include "report/document/document_value.hpp"
#include "report/document/provenance.hpp"
#include "report/memory/memory_sections.hpp"

namespace npuscope::report {

Result<MemoryAnswer> memory_answer(const analysis::Analysis& analysis,
                                   const MemoryRequest& request) {
  TRY_AS(found, find_peaks(analysis.profile(), request.peaks));
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
  TRY_AS(answer, memory_answer(analysis, request));
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
  put(schedule_section(profile));
  const bool answers =
      says_anything ||
      std::any_of(document.sections.begin(), document.sections.end(), [](const Section& section) {
        return section.key != "traffic" && section.key != "inferences";
      });
  const bool has_totals = std::ranges::any_of(profile.measures, [](const Measure& measure) {
    return measure.subject == Measure::Subject::profile &&
           measure.meaning.quantity == NumberQuantity::bytes;
  });
  if (!answers && has_totals) {
    return input_error(
        "{}: says of bytes what the whole has, which npuscope show --full lists, and "
        "not what an op moves",
        files_text(profile));
  }
  if (!answers) {
    return input_error("{}: says nothing of bytes that were moved; {}", files_text(profile),
                       how_to_get_bytes(profile));
  }
  return document;
}

Result<std::vector<analysis::NodeMacs>> macs_of_model(const std::string& file,
                                                      const std::vector<std::string>& symbols) {
  npu::ImportOptions options;
  options.allow_unknown = true;  // they have no MACs to be counted
  TRY(npu::parse_symbols(symbols, options));
  TRY_AS(graph, npu::import_onnx_file(file, options));
  std::vector<analysis::NodeMacs> nodes;
  for (const npu::Node& node : graph->nodes) {
    const std::uint64_t macs = npu::multiply_accumulates(*graph, node);
    if (macs > 0) nodes.push_back({node.name, double(macs)});
  }
  return nodes;
}

namespace {

using analysis::Route;

constexpr std::size_t time_width = 13, numbers_width = 23;

// Eighths of a row, the lowest for anything above nothing.
constexpr const char* heights[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

// As many columns as there is room for; a column that stands for several buckets is as high as the
// highest of them.
std::string bars(const std::vector<std::int64_t>& bytes, std::int64_t max, std::size_t room) {
  const std::size_t columns = std::min(room, bytes.size());
  std::string text;
  for (std::size_t column = 0; column < columns; ++column) {
    const std::size_t begin = column * bytes.size() / columns;
    const std::size_t end = (column + 1) * bytes.size() / columns;
    const std::int64_t highest = *std::max_element(bytes.begin() + std::ptrdiff_t(begin),
                                                   bytes.begin() + std::ptrdiff_t(end));
    std::size_t height = 0;
    if (highest > 0) height = 1 + std::size_t(7 * (double(highest) / double(max)));
    text += heights[std::min<std::size_t>(height, 8)];
  }
  return text;
}

}  // namespace

std::size_t buckets_that_fit(std::size_t width) {
  constexpr std::size_t min = 10;
  return std::max(width, time_width + numbers_width + min) - time_width - numbers_width;
}

Section over_time_section(const analysis::BandwidthSeries& series,
                          const analysis::MemoryTable& table, std::size_t width) {
  Section section{.key = "over_time", .title = "OVER TIME"};
  const std::size_t buckets = series.buckets();
  if (buckets == 0) return {};
  const double seconds = double(series.width) * table.roofs.seconds_per_tick;
  section.facts = {{{"bucket", "bucket", Format::ticks}, series.width},
                   {{"buckets", "", Format::count}, buckets}};
  const std::size_t room = buckets_that_fit(width);
  section.table.fields = {{"begin", "", Format::ticks}};
  std::vector<std::size_t> routes;
  bool above_peak = false;
  for (std::size_t route = 0; route < analysis::route_count; ++route) {
    const auto& bytes = series.bytes[route];
    if (bytes.empty()) continue;
    routes.push_back(route);
    const std::int64_t max = *std::max_element(bytes.begin(), bytes.end());
    const Field rate{"", "", seconds > 0 ? Format::bytes_per_second : Format::bytes};
    const std::string highest =
        value_text(nullptr, rate, seconds > 0 ? Value(double(max) / seconds) : Value(max));
    const bool is_ddr = Route(route) == Route::ddr_read || Route(route) == Route::ddr_write;
    const auto& peak = table.roofs.ddr_bytes_per_tick;
    const double possible =
        peak ? analysis::impossible_share * *peak * double(series.width) : double(max);
    above_peak = above_peak || (is_ddr && double(max) > possible);
    section.drawing.push_back(fmt::format("  {:<{}}{}  max {}", name_of(Route(route)),
                                          time_width - 2, bars(bytes, max, room), highest));
    section.table.fields.push_back({as_key(name_of(Route(route))) + "_bytes", "", Format::bytes});
  }
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    std::vector<Value> row{
        saturating_add(series.timeline.begin, std::int64_t(bucket) * series.width)};
    for (const std::size_t route : routes) row.push_back(series.bytes[route][bucket]);
    section.table.rows.push_back(std::move(row));
  }
  section.remarks = {
      "A span's bytes are spread evenly over its duration; each row has its own scale."};
  if (table.first_apart) section.remarks.push_back(over_all_inferences);
  const bool may_be_above = above_peak || !table.roofs.ddr_bytes_per_tick;
  const std::string remark = transfer_time_remark(table, above_peak);
  if (may_be_above && !remark.empty()) section.remarks.push_back(remark);
  return section;
}

}  // namespace npuscope::report
