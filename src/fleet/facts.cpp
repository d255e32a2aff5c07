#include "fleet/facts.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/ops/row_names.hpp"
#include "analysis/run_identity.hpp"
#include "analysis/units/unit_numbers.hpp"
#include "base/text.hpp"
#include "fleet/identity.hpp"
#include "fleet/run_facts.hpp"
#include "npuscope/profile/unit_path.hpp"
#include "profile/names.hpp"

namespace npuscope::fleet {
namespace {

using Temperature = Provenance::Temperature;

// Units and clocks are asked inference by inference up to so many.
constexpr std::size_t max_parts = 64;

std::optional<std::string> known(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(valid_utf8(text));
}

bool is_simulated(const Profile& profile) {
  const auto is = [](const auto& each) { return each.origin == Origin::simulated; };
  return profile.provenance.simulator_slowdown > 0 ||
         std::any_of(profile.measures.begin(), profile.measures.end(), is) ||
         std::any_of(profile.spans.measures.begin(), profile.spans.measures.end(), is);
}

// The ticks of a run are of its wall, else of what its ops took.
TimeBase clock_of(const analysis::RunSamples& samples) {
  const Metric* wall = samples.metric("wall");
  if (wall != nullptr && wall->kind == MeasureKind::wall) return wall->time;
  for (const std::string& column : samples.op_columns()) {
    const auto values = samples.op_samples(column);
    if (values && values->quantity == SampleQuantity::time) return values->time;
  }
  return {};
}

}  // namespace

RunFacts::RunFacts(const Profile& profile, const RunOptions& options, Batch& batch)
    : profile_(profile),
      options_(options),
      batch_(batch),
      run_(id_of_content(options.content)),
      samples_(profile),
      analysis_(profile),
      clock_(clock_of(samples_)) {}

std::int64_t RunFacts::number_of(std::uint32_t inference) const {
  if (inference != every_instance) return inference;
  const bool is_one = samples_.inferences().size() == 1 && profile_.provenance.inferences <= 1;
  return is_one ? std::int64_t(samples_.inferences().front()) : all_inferences;
}

// As a side of diff has it, but for what only other runs could tell.
bool RunFacts::is_cold(std::int64_t inference) const {
  if (inference == all_inferences) return false;
  const Temperature temperature = profile_.provenance.temperature;
  if (temperature == Temperature::warm || temperature == Temperature::cold) {
    return temperature == Temperature::cold;
  }
  if (samples_.inferences().size() > 1) return inference == samples_.inferences().front();
  if (analysis::only_inference(profile_)) return inference == 0;
  return temperature == Temperature::cold_then_warm;
}

Inference& RunFacts::inference(std::int64_t number) {
  const auto [found, is_new] = inferences_.try_emplace(number);
  if (is_new) {
    found->second.run = run_;
    found->second.inference = number;
    found->second.cold = is_cold(number);
  }
  return found->second;
}

Id RunFacts::op_of(std::uint32_t group) {
  const auto [found, is_new] = ops_.try_emplace(group);
  if (is_new) {
    const OpGroup& of = samples_.groups().groups()[group];
    const std::string name = valid_utf8(analysis::without_ordinals(of.label));
    const std::string kind = valid_utf8(of.kind);
    found->second = id_of(name, kind);
    if (counts_.try_emplace(found->second).second) {
      batch_.ops.push_back({found->second, name, kind});
    }
    counts_[found->second] += of.ops;
  }
  return found->second;
}

OpRun& RunFacts::op_run(std::int64_t inference, std::uint32_t group) {
  const Id op = op_of(group);
  const auto [found, is_new] = op_runs_.try_emplace({inference, op});
  if (is_new) {
    found->second.run = run_;
    found->second.inference = inference;
    found->second.op = op;
    found->second.cold = is_cold(inference);
  }
  return found->second;
}

Id RunFacts::unit_of(UnitId unit) {
  const auto [found, is_new] = units_.try_emplace(unit);
  if (is_new) {
    const std::string path = valid_utf8(path_of(profile_, unit));
    const std::string engine = stable_name(profile_.units[index_of(unit)].engine);
    found->second = id_of(path, engine);
    batch_.units.push_back({found->second, path, engine});
  }
  return found->second;
}

void RunFacts::lose(std::string what, std::int64_t count) {
  if (count > 0) batch_.notes.push_back({run_, "info", "", 0, std::move(what), count});
}

void RunFacts::add_run() {
  const Provenance& from = profile_.provenance;
  const Labels& labels = options_.labels;
  const auto either = [](const std::optional<std::string>& label, std::string_view stated) {
    return label ? label : known(stated);
  };
  Run run;
  run.id = run_;
  run.content = options_.content;
  run.time = labels.time.value_or(options_.file_time);
  run.time_from = labels.time ? "tag" : "file";
  run.device = labels.device;
  run.soc = either(labels.soc, from.device);
  run.sdk = either(labels.sdk, from.version);
  run.model = either(labels.model, from.graph);
  run.graph = known(graph_hash(samples_.groups()));
  run.format = valid_utf8(from.format);
  run.temperature = stable_name(from.temperature);
  run.instrumentation = known(from.instrumentation);
  run.origin = stable_name(!from.ran()               ? from.times
                           : samples_.is_estimated() ? Origin::estimated
                           : is_simulated(profile_)  ? Origin::simulated
                                                     : Origin::measured);
  run.clock = known(clock_.name);
  if (run.clock) run.clock_kind = stable_name(clock_.kind);
  if (clock_.hertz > 0) run.hertz = clock_.hertz;
  run.inferences = std::int64_t(samples_.inferences().size());
  run.damaged = std::any_of(profile_.notes.begin(), profile_.notes.end(),
                            [](const Note& note) { return note.severity == Severity::error; });
  for (const std::string& file : from.files) {
    run.files += (run.files.empty() ? "" : "\n") + valid_utf8(file);
  }
  batch_.runs.push_back(std::move(run));
  for (const auto& [key, value] : labels.tags) {
    batch_.tags.push_back({run_, key, value, number_of_value(value)});
  }
}

void RunFacts::add_inferences() {
  using Member = std::optional<double> Inference::*;
  const auto add = [&](const char* name, MeasureKind kind, Member ticks, Member seconds) {
    const Metric* metric = samples_.metric(name);
    if (metric == nullptr || metric->kind != kind) return;
    for (const Sample& sample : metric->samples) {
      Inference& row = inference(number_of(sample.inference));
      if (ticks != nullptr) row.*ticks = sample.value;
      if (seconds != nullptr && metric->time.hertz > 0) {
        row.*seconds = sample.value / metric->time.hertz;
      }
    }
  };
  using I = Inference;
  add("wall", MeasureKind::wall, &I::wall, &I::wall_seconds);
  add("active", MeasureKind::active, &I::active, nullptr);
  add("waiting", MeasureKind::active, &I::waiting, nullptr);
  add("idle", MeasureKind::active, &I::idle, nullptr);
  add("work", MeasureKind::work, &I::work, nullptr);
  add("latency", MeasureKind::wall, nullptr, &I::latency_seconds);
  add("device_latency", MeasureKind::wall, nullptr, &I::device_latency_seconds);
  add("ddr_read_bytes", MeasureKind::count, &I::ddr_read_bytes, nullptr);
  add("ddr_write_bytes", MeasureKind::count, &I::ddr_write_bytes, nullptr);
  add("vtcm_read_bytes", MeasureKind::count, &I::vtcm_read_bytes, nullptr);
  add("vtcm_write_bytes", MeasureKind::count, &I::vtcm_write_bytes, nullptr);
}

void RunFacts::add_op_columns() {
  using Member = std::optional<double> OpRun::*;
  bool has_work = false, has_path = false;
  for (const std::string& name : samples_.op_columns()) {
    const auto column = samples_.op_samples(name);
    if (!column || column->quantity != SampleQuantity::time) continue;
    const bool is_path = column->kind == MeasureKind::dominant_path;
    if (!is_path && column->kind != MeasureKind::work) continue;
    if (is_path ? has_path : has_work) continue;
    if (!(column->time == clock_)) {
      lose("numbers of ops on another clock than the run's", std::int64_t(column->entries.size()));
      continue;
    }
    (is_path ? has_path : has_work) = true;
    const Member member = is_path ? &OpRun::dominant_path : &OpRun::work;
    for (std::uint32_t group = 0; group + 1 < column->first.size(); ++group) {
      for (std::uint32_t i = column->first[group]; i < column->first[group + 1]; ++i) {
        const Sample& sample = column->entries[i];
        OpRun& row = op_run(number_of(sample.inference), group);
        row.*member = (row.*member).value_or(0) + sample.value;
      }
    }
  }
}

void RunFacts::add_units() {
  if (profile_.spans.size() == 0) return;
  std::map<std::pair<std::int64_t, Id>, UnitRun> rows;
  const auto add = [&](const analysis::Analysis& of, std::int64_t number) {
    for (const analysis::UnitRow& row : of.units().units) {
      if (index_of(row.unit) >= of.profile().units.size()) continue;
      // The units of a part are fewer than those of the whole: their paths tell which they are.
      const std::string path = valid_utf8(path_of(of.profile(), row.unit));
      const std::string engine = stable_name(of.profile().units[index_of(row.unit)].engine);
      const Id unit = id_of(path, engine);
      batch_.units.push_back({unit, path, engine});
      UnitRun& sum = rows.try_emplace({number, unit}).first->second;
      sum = {run_,
             number,
             unit,
             is_cold(number),
             saturating_add(sum.busy, row.busy),
             saturating_add(sum.waiting, row.waiting),
             saturating_add(sum.work, row.work),
             sum.spans + std::int64_t(row.spans)};
    }
    if (const auto hertz = analysis::clock_of_units(of.unit_numbers())) {
      inference(number).clock_hertz = *hertz;
    }
  };
  const auto& all = samples_.inferences();
  if (all.size() == 1 || all.size() > max_parts || profile_.spans.instance.empty()) {
    add(analysis_, all.size() == 1 ? std::int64_t(all.front()) : all_inferences);
  } else {
    for (const std::uint32_t each : all) {
      Filter filter;
      filter.instance = each;
      add(analysis_.part(filter), each);
    }
  }
  for (const auto& [key, row] : rows) batch_.unit_runs.push_back(row);
}

void RunFacts::add_findings() {
  std::map<std::string, FindingRow> rows;  // where a rule speaks twice, the first is the severest
  const auto add_rest = [&](const auto& said) {
    for (const auto& rule : said.quiet) rows.try_emplace(rule, FindingRow{run_, rule, "quiet"});
    for (const auto& each : said.untried) {
      rows.try_emplace(each.rule, FindingRow{run_, each.rule, "untried", {}, {}, each.missing});
    }
  };
  if (profile_.numbers) {
    const RunFindings said = samples_.findings();
    for (const auto& each : said.found) {
      rows.try_emplace(each.rule, FindingRow{run_, each.rule, "found", each.weight});
    }
    add_rest(said);
  } else {
    const analysis::Diagnosis said = analysis_.findings();
    for (const analysis::Finding& each : said.findings) {
      FindingRow row{run_, each.rule, "found", name_of(each.weight), valid_utf8(each.title)};
      if (each.gain && each.gain->of_wall) row.gain_share = each.gain->share;
      rows.try_emplace(each.rule, std::move(row));
    }
    add_rest(said);
  }
  for (auto& [rule, row] : rows) batch_.findings.push_back(std::move(row));
}

void RunFacts::add_checks_and_notes() {
  for (const Check& check : profile_.checks) {
    batch_.checks.push_back(
        {run_, valid_utf8(check.name), stable_name(check.outcome), valid_utf8(check.detail)});
  }
  for (const Note& note : profile_.notes) {
    batch_.notes.push_back({run_, stable_name(note.severity), valid_utf8(note.file),
                            std::int64_t(note.offset), valid_utf8(note.message),
                            std::int64_t(note.count)});
  }
}

void RunFacts::add_counters() {
  struct Sum {
    std::int64_t samples = 0;
    double min = 0, max = 0, total = 0;
  };
  const Counters& counters = profile_.counters;
  std::vector<Sum> sums(counters.series.size());
  for (std::size_t i = 0; i < counters.size(); ++i) {
    const double value = counters.value[i];
    if (counters.of[i] >= sums.size() || !std::isfinite(value)) continue;
    Sum& sum = sums[counters.of[i]];
    sum.min = sum.samples == 0 ? value : std::min(sum.min, value);
    sum.max = sum.samples == 0 ? value : std::max(sum.max, value);
    sum.total += value;
    sum.samples += 1;
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const CounterSeries& series = counters.series[i];
    if (sums[i].samples == 0) continue;
    std::string name = valid_utf8(profile_.text(series.name));
    if (series.part != StringId::empty) name += "." + valid_utf8(profile_.text(series.part));
    const bool has_unit = index_of(series.unit) < profile_.units.size();
    batch_.counters.push_back(
        {run_, std::move(name),
         has_unit ? std::optional(valid_utf8(path_of(profile_, series.unit))) : std::nullopt,
         known(profile_.text(series.quantity)), sums[i].samples, sums[i].min,
         sums[i].total / double(sums[i].samples), sums[i].max});
  }
}

void RunFacts::finish() {
  for (const auto& [inference, hertz] : analysis::clock_of_phases(profile_).hertz) {
    auto& known_hertz = this->inference(number_of(inference)).clock_hertz;
    if (!known_hertz) known_hertz = hertz;
  }
  for (auto& [number, row] : inferences_) batch_.inferences.push_back(row);
  for (auto& [key, row] : op_runs_) {
    row.ops = counts_[row.op];
    batch_.op_runs.push_back(row);
  }
}

void RunFacts::add_all() {
  add_run();
  add_inferences();
  add_op_columns();
  add_op_spans();
  add_units();
  add_findings();
  add_checks_and_notes();
  add_counters();
  if (options_.spans) add_spans();
  finish();
}

void add_facts(const Profile& profile, const RunOptions& options, Batch& batch) {
  RunFacts(profile, options, batch).add_all();
}

}  // namespace npuscope::fleet
