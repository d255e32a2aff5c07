#include "formats/perfetto/restore/restored_rows.hpp"

#include <algorithm>
#include <bit>

#include "profile/names.hpp"

namespace npuscope::perfetto {
namespace {

constexpr std::size_t most_recent_ops = 1 << 14;

}  // namespace

RestoredRows::RestoredRows(Profile& profile, const RestorePlan& plan, RowRange rows)
    : profile_(profile),
      plan_(plan),
      rows_(rows),
      recent_(std::bit_ceil(std::clamp<std::size_t>(profile.ops.size(), 1, most_recent_ops))) {}

SpanKind RestoredRows::kind_of(StringId text, SpanKind otherwise) {
  if (text != last_text_) {
    const auto found = std::ranges::find(plan_.kind_texts, text);
    last_text_ = text;
    last_kind_.reset();
    if (found != plan_.kind_texts.end()) last_kind_ = SpanKind(found - plan_.kind_texts.begin());
  }
  return last_kind_.value_or(otherwise);
}

void RestoredRows::take(const RowPlan::PlacedWord& word, const ArgumentRow& arguments,
                        std::size_t row) {
  Spans& spans = profile_.spans;
  const std::uint64_t bits = arguments.bits(word.place);
  if (word.word == Word::span) {
    spans.kind[row] = kind_of(StringId(std::uint32_t(bits)), spans.kind[row]);
  } else if (word.word == Word::inference) {
    spans.instance[row] = std::uint32_t(bits);
  } else {
    spans.processor_cycles[row] = std::int64_t(bits);
  }
}

void RestoredRows::take_numbers(const RowPlan& plan, const ArgumentRow& arguments,
                                std::size_t row) {
  for (const auto& [place, number, column] : plan.columns) {
    profile_.spans.measures[column].values[row] = std::int64_t(arguments.bits(place));
  }
  for (const auto& [place, number, column] : plan.measures) {
    measures_.push_back({Measure::Subject::span, std::uint32_t(row), number->name, number->kind,
                         number->origin, number->meaning, number->clock,
                         std::bit_cast<double>(arguments.bits(place)), every_instance,
                         number->event});
  }
}

std::uint32_t RestoredRows::number_of(OpId was, std::optional<SpanKind> wait, const RowPlan& plan,
                                      const ArgumentRow& arguments) {
  op_.was = was;
  op_.wait = wait;
  op_.words.clear();
  for (const auto& [place, word] : plan.of_op) {
    op_.words.push_back(std::uint64_t(word));
    op_.words.push_back(arguments.bits(place));
  }
  RecentOp& recent = recent_of(was);
  if (recent.op == nullptr || *recent.op != op_) {
    const auto [entry, is_new] = numbers_.try_emplace(op_, std::uint32_t(in_order_.size()));
    if (is_new) in_order_.push_back(&entry->first);
    recent = {&entry->first, entry->second, was, !wait && op_.words.empty()};
  }
  return recent.number;
}

void RestoredRows::restore() {
  Spans& spans = profile_.spans;
  const std::size_t op_count = profile_.ops.size();
  for (std::size_t row = rows_.first; row < rows_.last; ++row) {
    const ArgumentRow arguments = spans.arguments.row(row);
    const RowPlan& plan = plan_.plans[arguments.shape()];
    const SpanKind before = spans.kind[row];
    for (const RowPlan::PlacedWord& word : plan.of_span) take(word, arguments, row);
    if (plan.has_numbers()) take_numbers(plan, arguments, row);
    const OpId was = spans.op[row];
    if (index_of(was) >= op_count) continue;
    const SpanKind kind = spans.kind[row];
    const bool waits = kind != before && is_wait(kind);
    const RecentOp& recent = recent_of(was);
    if (recent.is_plain && recent.was == was && !waits && plan.of_op.empty()) {
      spans.op[row] = OpId(recent.number);
      continue;
    }
    const auto wait = waits ? std::optional(kind) : std::nullopt;
    spans.op[row] = OpId(number_of(was, wait, plan, arguments));
  }
}

}  // namespace npuscope::perfetto
