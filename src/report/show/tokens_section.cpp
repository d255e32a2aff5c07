// Of a language model's phase: tokens a second, and what part of that time the NPU was given work.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/units/unit_numbers.hpp"
#include "base/counted.hpp"
#include "base/text.hpp"
#include "report/document/document_value.hpp"
#include "report/show/show_sections.hpp"

namespace npuscope::report {

using namespace analysis;

namespace {

std::optional<double> number_of(const Profile& profile, NumberRole role) {
  for (const Measure& measure : profile.measures) {
    const bool is_of_run = measure.subject == Measure::Subject::profile;
    if (is_of_run && measure.meaning.role == role) return measure.value;
  }
  return std::nullopt;
}

}  // namespace

Section tokens_section(const Analysis& analysis) {
  const Profile& profile = analysis.profile();
  const auto tokens = number_of(profile, NumberRole::tokens);
  const auto batches = number_of(profile, NumberRole::batch_time);
  const auto taken = number_of(profile, NumberRole::tokens_time);
  const std::size_t base = index_of(profile.base_clock);
  if (!tokens || !batches || !(*tokens > 0) || base >= profile.clocks.size()) return {};
  const double hertz = profile.clocks[base].rate.value;
  if (!(hertz > 0)) return {};
  double ops = 0;
  if (const MeasureColumn* windows = profile.spans.measure(NumberRole::op_window)) {
    for (const std::int64_t window : windows->values) {
      if (window != MeasureColumn::missing) ops += double(window);
    }
  }
  Section section{.key = "tokens", .title = "TOKENS"};
  const double npu = *batches / hertz;
  Field seconds{"seconds", "", Format::seconds};
  section.facts = {
      {{"tokens", "", Format::count}, *tokens},
      {seconds, taken ? Value(*taken / hertz) : Value()},
      {{"tokens_per_second", "", Format::number},
       taken && *taken > 0 ? Value(*tokens / *taken * hertz) : Value()},
      {{"npu_seconds", "", Format::seconds}, npu},
      {{"npu_share", "", Format::share}, taken && *taken > 0 ? Value(*batches / *taken) : Value()},
      {{"op_seconds", "", Format::seconds}, ops / hertz}};
  double slowest = 0, fastest = 0;  // clock of the core in an inference
  for (const InferenceClock& clock : analyse_clocks(profile)) {
    slowest = slowest == 0 ? clock.min_hertz : std::min(slowest, clock.min_hertz);
    fastest = std::max(fastest, clock.max_hertz);
  }
  section.facts.push_back({{"clock_min_hz", "", Format::hertz}, if_positive(slowest)});
  section.facts.push_back({{"clock_max_hz", "", Format::hertz}, if_positive(fastest)});
  std::string clock = fastest > 0 ? "; clock " + hertz_text(fastest) : "";
  if (const std::string least = hertz_text(slowest); fastest > 0 && least != hertz_text(fastest)) {
    clock = fmt::format("; clock {} to {}", least, hertz_text(fastest));
  }
  const auto add = [&](const char* label, std::string text) {
    section.facts.push_back({{"", label}, std::move(text)});
  };
  const auto of_time = [&](double ticks) {
    const std::string share = taken ? percent_text(ticks, *taken) : "";
    return seconds_text(ticks / hertz) + (share.empty() ? "" : ", " + share);
  };
  const std::string count = number_text(*tokens);
  if (taken && *taken > 0) {
    add("tokens", fmt::format("{} in {}: {} per second (runtime)", count,
                              seconds_text(*taken / hertz), number_text(*tokens / *taken * hertz)));
  } else {
    add("tokens", fmt::format("{}; their time is not in the log", count));
  }
  const bool is_of_ops = *batches <= ops;  // what is between them is not in the file
  if (is_of_ops) {
    add("NPU ops", of_time(*batches) + clock);
  } else {
    add("NPU batches", fmt::format("{}; ops in them {}{}", of_time(*batches), of_time(ops), clock));
  }
  if (taken && *taken >= *batches) {
    add("outside",
        fmt::format("{}: host, dispatch, ops on CPU or GPU", of_time(*taken - *batches)));
  }
  const auto elsewhere = std::ranges::count(profile.ops, Engine::host, &Op::engine);
  const auto all = number_of(profile, NumberRole::model_nodes);
  if (all || elsewhere > 0) {
    section.facts.push_back({{"ops_elsewhere", "", Format::count}, double(elsewhere)});
    section.facts.push_back({{"ops_of_graph", "", Format::count}, all ? Value(*all) : Value()});
    add("elsewhere",
        all ? fmt::format("{} of {} ops of the graph on CPU or GPU", elsewhere, number_text(*all))
            : counted(elsewhere, "op") + " that the NPU refuses, on CPU or GPU");
  } else {
    add("elsewhere", "ops on CPU and GPU are not in the log");
  }
  return section;
}

}  // namespace npuscope::report
