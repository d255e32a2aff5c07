#include "report/programs/trust.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/words/builtin_pages.hpp"

namespace npuscope::report {
namespace {

using npu::ModelFamily;
using Row = std::vector<std::string>;

std::string_view validation_page() {
  for (const auto& [name, text] : builtin_pages) {
    if (name == "validation") return text;
  }
  return {};
}

Row cells_of(std::string_view line) {
  Row cells;
  line.remove_prefix(1);
  while (!line.empty()) {
    const std::size_t end = std::min(line.find('|'), line.size());
    if (end == line.size() && trimmed(line).empty()) break;
    cells.emplace_back(trimmed(line.substr(0, end)));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return cells;
}

// The cell of a row below this head.
std::string cell(const std::vector<Row>& table, const Row& row, std::string_view head) {
  const auto found = std::ranges::find(table.front(), head);
  const auto at = std::size_t(found - table.front().begin());
  return at < row.size() ? row[at] : std::string();
}

std::optional<double> number_in(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  return take_number<double>(text);
}

struct Deviation {
  std::string run;
  double share = 0;
};

std::string range_of(const std::vector<Deviation>& runs) {
  const auto [least, most] = std::ranges::minmax_element(runs, {}, &Deviation::share);
  return least == most ? fmt::format("{:+.1f} %", least->share * 100)
                       : fmt::format("{:+.1f} to {:+.1f} %", least->share * 100, most->share * 100);
}

Trust judged_by(const std::vector<Deviation>& runs, std::string statement) {
  const auto [least, most] = std::ranges::minmax_element(runs, {}, &Deviation::share);
  return {true, runs.size(), least->share, most->share, std::move(statement)};
}

Trust not_judged(const std::string& why) { return {.statement = "not judged: " + why}; }

struct CardRuns {
  std::vector<Deviation> same;      // of such a model
  std::vector<std::string> others;  // with their differences
};

CardRuns card_runs(std::string_view heading, const JudgedModel& model) {
  const auto table = table_below(validation_page(), heading);
  CardRuns runs;
  for (std::size_t i = 1; i < table.size(); ++i) {
    const std::string figure = cell(table, table[i], "figure");
    if (!figure.empty() && figure != "device time") continue;
    const std::string run = cell(table, table[i], "run");
    const auto difference = number_in(cell(table, table[i], "difference"));
    const auto known = std::ranges::find(families_of_runs(), run, &FamilyOfRun::run);
    if (!difference || known == families_of_runs().end()) continue;
    if (known->family == model.family && known->is_quantized == model.is_quantized) {
      runs.same.push_back({run, *difference / 100});
    } else {
      runs.others.push_back(fmt::format("{} {}", run, cell(table, table[i], "difference")));
    }
  }
  return runs;
}

std::string names_of(const std::vector<Deviation>& runs) {
  std::vector<std::string> names;
  for (const Deviation& each : runs) {
    if (std::ranges::find(names, each.run) == names.end()) names.push_back(each.run);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// Cloud AI 100: real cards.
Trust of_cards(const JudgedModel& model) {
  const CardRuns real = card_runs("## Real runs", model);
  const CardRuns published = card_runs("## Predictions: throughput that was published", model);
  std::vector<std::string> statements;
  if (!real.same.empty()) {
    statements.push_back(fmt::format(
        "device time against a real card: {} ({}); figures of the target were taken from {}",
        range_of(real.same), names_of(real.same),
        real.same.size() > 1 ? "these runs" : "this run"));
  }
  if (!published.same.empty()) {
    statements.push_back(fmt::format("throughput against what was published of cards: {} ({})",
                                     range_of(published.same), names_of(published.same)));
  }
  if (statements.empty()) {
    std::vector<std::string> others = real.others;
    others.insert(others.end(), published.others.begin(), published.others.end());
    return not_judged(fmt::format(
        "docs/validation.md has no real run of {} {} network; of others: "
        "{}",
        name_of(model.family), model.is_quantized ? "int8" : "fp16", fmt::join(others, ", ")));
  }
  std::vector<Deviation> all = real.same;
  all.insert(all.end(), published.same.begin(), published.same.end());
  return judged_by(all, fmt::format("{}", fmt::join(statements, "; ")));
}

// HTP v73: Qualcomm's estimate on the host.
Trust of_estimates(bool is_quantized) {
  const auto table = table_below(validation_page(), "### Predictions");
  const std::string_view precision = is_quantized ? "int8" : "fp16";
  std::vector<Deviation> runs;
  for (std::size_t i = 1; i < table.size(); ++i) {
    const auto ratio = number_in(cell(table, table[i], "ratio"));
    if (cell(table, table[i], "precision") != precision || !ratio) continue;
    runs.push_back({cell(table, table[i], "model"), *ratio - 1});
  }
  if (runs.empty()) return not_judged("docs/validation.md has no prediction of such a network");
  const auto near = std::ranges::count_if(
      runs, [](const Deviation& each) { return std::abs(each.share) <= 0.25; });
  return judged_by(
      runs, fmt::format("cycles against Qualcomm's host estimate, not a device: {} ({} {} networks "
                        "that were predicted, {} within 25 %)",
                        range_of(runs), runs.size(), precision, near));
}

// Torq: torq-compiler's estimate.
Trust of_torq(std::string_view heading, bool is_quantized) {
  const auto table = table_below(validation_page(), heading);
  const std::string_view type = is_quantized ? "int8" : "bf16";
  for (std::size_t i = 1; i < table.size(); ++i) {
    const Row& row = table[i];
    if (cell(table, row, "kernels") != "whole nets" || cell(table, row, "type") != type) continue;
    Trust trust{.is_judged = true};
    trust.runs = parse_number<std::uint64_t>(cell(table, row, "cases")).value_or(0);
    trust.statement = fmt::format(
        "cycles against torq-compiler's estimate, not a device: {} of {} {} networks within 25 %, "
        "furthest by a factor: {}",
        cell(table, row, "within 25 %"), cell(table, row, "cases"), type,
        cell(table, row, "furthest"));
    return trust;
  }
  return not_judged("docs/validation.md has no network of such a type");
}

}  // namespace

std::vector<Row> table_below(std::string_view markdown, std::string_view heading) {
  std::vector<Row> table;
  const std::size_t at = markdown.find(fmt::format("\n{}\n", heading));
  if (at == markdown.npos) return table;
  markdown.remove_prefix(at + 1 + heading.size());
  while (!markdown.empty()) {
    const std::size_t end = std::min(markdown.find('\n'), markdown.size());
    const std::string_view line = markdown.substr(0, end);
    markdown.remove_prefix(std::min(end + 1, markdown.size()));
    if (line.starts_with('|')) {
      if (!line.starts_with("|---") && !line.starts_with("|:--")) table.push_back(cells_of(line));
    } else if (!table.empty() || line.starts_with('#')) {
      break;
    }
  }
  return table;
}

std::span<const FamilyOfRun> families_of_runs() {
  using enum ModelFamily;
  static constexpr FamilyOfRun families[] = {{"Amber 7B decode", decoder},
                                             {"BERT-base batch 8", encoder},
                                             {"ResNet-50 int8", convolutional, true},
                                             {"SSD-ResNet34 int8", convolutional, true},
                                             {"SSD-MobileNet int8", convolutional, true},
                                             {"BERT-Large 384, int8 products", encoder, true},
                                             {"BERT-Large 384 fp16", encoder},
                                             {"GPT-J 6B fp16", decoder},
                                             {"OPT 2.7B fp16", decoder}};
  return families;
}

const char* name_of(ModelFamily family) {
  switch (family) {
    case ModelFamily::convolutional: return "a convolutional";
    case ModelFamily::encoder: return "an encoder";
    case ModelFamily::decoder: return "a decoder";
    case ModelFamily::other: break;
  }
  return "such a";
}

Trust trust_in(std::string_view target, const JudgedModel& model) {
  const bool is_aic100 = target == "aic100", is_htp = target == "htp-v73";
  if ((is_aic100 || is_htp) && model.is_float32 && !model.is_quantized) {
    return not_judged(fmt::format("docs/validation.md has no float32 network on {}", target));
  }
  if (is_aic100) return of_cards(model);
  if (is_htp) return of_estimates(model.is_quantized);
  if (target == "torq-sl2610") {
    return of_torq("### Predictions: shapes and nets that it was tried on afterwards",
                   model.is_quantized);
  }
  if (target == "torq-sr200") {
    return of_torq(
        "### SR200: the same rules with one slice, its rate of the DMA and 256 KiB of LRAM",
        model.is_quantized);
  }
  return not_judged(fmt::format("docs/validation.md has nothing on {}", target));
}

}  // namespace npuscope::report
