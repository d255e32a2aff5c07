#include "report/compare/cause_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "analysis/compare/schedule_change.hpp"
#include "report/compare/diff_text.hpp"

namespace npuscope::report {

using namespace analysis;

namespace {

constexpr double half = 0.5, worth_saying = 0.1;

std::string signed_amount(double value) {
  return (value < 0 ? "-" : "+") + amount_text(MeasuredIn::count, std::abs(value));
}

const char* more_or_less(double delta) { return delta > 0 ? "more" : "less"; }

// The bytes that a cycle of DMA moves; none where that is not known on both sides.
struct Rates {
  double a = 0, b = 0;
};
std::optional<Rates> rates_of(const ScheduleChange& change) {
  const bool known = change.bytes_a && change.bytes_b && change.transfers_a > 0 &&
                     change.transfers_b > 0 && *change.bytes_a > 0;
  if (!known) return std::nullopt;
  return Rates{*change.bytes_a / change.transfers_a, *change.bytes_b / change.transfers_b};
}

bool is_other_rate(const std::optional<Rates>& rates) {
  return rates && std::abs(rates->b - rates->a) >= worth_saying * rates->a;
}

// What lies behind the change of a part.
std::string reason_of(const SchedulePart& part, const ScheduleChange& change) {
  const char* more = more_or_less(part.delta());
  const auto is_most_of = [&](double delta) {
    return delta / part.delta() >= half;  // the same way
  };
  switch (part.what) {
    case SchedulePart::What::exposed_transfer:
      if (is_most_of(change.transfers_b - change.transfers_a)) {
        const auto rates = rates_of(change);
        if (is_other_rate(rates) && (rates->b < rates->a) == (part.delta() > 0)) {
          return fmt::format("{} DMA", part.delta() > 0 ? "slower" : "faster");
        }
        return fmt::format("{} DMA that no compute hides", more);
      }
      return fmt::format("{} overlap of DMA and compute", more_or_less(-part.delta()));
    case SchedulePart::What::compute:
      // Work is of all units; that of transfers is about the time in which any moves.
      if (is_most_of(change.work_b - change.transfers_b - change.work_a + change.transfers_a))
        return fmt::format("{} compute", more);
      return fmt::format("{} compute at once on several units", more_or_less(-part.delta()));
    case SchedulePart::What::idle: break;
  }
  return fmt::format("{} time with no unit at work", more);
}

std::string name_of(const SchedulePart& part) {
  switch (part.what) {
    case SchedulePart::What::exposed_transfer: return "exposed DMA";
    case SchedulePart::What::compute: return "time with compute";
    case SchedulePart::What::idle: break;
  }
  return "time with no unit at work";
}

std::string from_to(const SchedulePart& part, MeasuredIn unit) {
  return fmt::format("{} {} -> {}, {}", name_of(part), amount_text(MeasuredIn::count, part.a),
                     amount_text(unit, part.b), signed_amount(part.delta()));
}

// Where the wall and the work went different ways, what that means.
std::string disagreement_text(const Comparison& comparison) {
  constexpr double noise = 0.01;
  const auto change_of = [&](std::string_view name) -> std::optional<double> {
    for (const MetricChange& metric : comparison.metrics) {
      if (metric.name == name) return metric.estimate.relative();
    }
    return std::nullopt;
  };
  const auto wall = change_of("wall"), work = change_of("work");
  if (!wall || !work || std::abs(*wall) < noise || std::abs(*work) < noise) return {};
  if ((*wall > 0) == (*work > 0)) return {};
  const std::string how =
      fmt::format("the wall changes by {}, the work by {}", change_text(*wall), change_text(*work));
  return *wall < 0 ? fmt::format(
                         "B is faster and does more work ({}): more of it runs at the same "
                         "time, on other units or cores",
                         how)
                   : fmt::format(
                         "B is slower and does less work ({}): less of it runs at the same "
                         "time, or units wait longer",
                         how);
}

}  // namespace

std::string cause_text(const Comparison& comparison) {
  const auto change = find_schedule_change(comparison);
  if (!change) return disagreement_text(comparison);
  const SchedulePart& first = change->parts.front();
  std::string text = change->is_of_estimates ? "by the compilers' estimates, " : "";
  text += fmt::format("{}: {} of the {}wall's {}", reason_of(first, *change),
                      from_to(first, change->unit), change->is_of_estimates ? "estimated " : "",
                      signed_amount(change->wall_delta()));
  for (std::size_t i = 1; i < change->parts.size(); ++i) {
    const SchedulePart& part = change->parts[i];
    if (std::abs(part.delta()) < worth_saying * std::abs(change->wall_delta())) continue;
    const bool is_against = part.delta() * change->wall_delta() < 0;
    text += fmt::format("; {}{}: {}", is_against ? "against it " : "", reason_of(part, *change),
                        from_to(part, change->unit));
  }
  if (const auto rates = rates_of(*change); is_other_rate(rates)) {
    text += fmt::format("; DMA {:.2f} -> {:.2f} bytes a cycle", rates->a, rates->b);
  }
  for (const MetricChange* number : change->numbers) {
    const Estimate& of = number->estimate;
    text += fmt::format("; {} {} -> {}", number->name, amount_text(number->unit, of.a),
                        amount_text(number->unit, of.b));
  }
  return text;
}

}  // namespace npuscope::report
