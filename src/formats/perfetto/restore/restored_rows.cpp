#include "formats/perfetto/restore/restored_rows.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "profile/names.hpp"

namespace npuscope::perfetto {
namespace {

// What the argument is, if it is one of the writer's and of the type that the writer gives it.
std::optional<Word> word_in(const Profile& profile, const ArgumentKey& key) {
  const std::string_view name = profile.strings[key.name];
  if (!name.starts_with(word_prefix)) return std::nullopt;
  const auto known = words.begin() + std::size_t(Word::microseconds);
  const auto found = std::find(words.begin(), known, name);
  if (found == known) return std::nullopt;
  const auto word = Word(found - words.begin());
  const bool numeric = word == Word::inference || word == Word::processor_cycles ||
                       word == Word::output_bytes || word == Word::op_id || word == Word::core ||
                       word == Word::group || word == Word::position ||
                       word == Word::once_per_inference;
  const bool fits = key.type == (numeric ? ArgumentType::integer : ArgumentType::text);
  return fits ? std::optional(word) : std::nullopt;
}

bool is_of_span(Word word) {
  return word == Word::span || word == Word::inference || word == Word::processor_cycles;
}

// By name, and whether they are columns.
using Numbers = std::map<std::pair<StringId, bool>, const NumberMeaning*>;

const NumberMeaning* number_in(const Numbers& numbers, const ArgumentKey& key) {
  if (key.type != ArgumentType::integer && key.type != ArgumentType::number) return nullptr;
  const auto found = numbers.find({key.name, key.type == ArgumentType::integer});
  return found == numbers.end() ? nullptr : found->second;
}

RowPlan plan_of(const Profile& profile, const ArgumentShape& shape, const Numbers& numbers) {
  RowPlan plan;
  for (std::uint32_t place = 0; place < shape.size(); ++place) {
    if (const auto word = word_in(profile, shape[place])) {
      (is_of_span(*word) ? plan.of_span : plan.of_op).push_back({place, *word});
    } else if (const NumberMeaning* const number = number_in(numbers, shape[place])) {
      (number->is_column ? plan.columns : plan.measures).push_back({place, number, 0});
    } else {
      plan.staying.push_back(place);
    }
  }
  return plan;
}

}  // namespace

std::vector<RowPlan> row_plans(const Profile& profile, const std::vector<NumberMeaning>& numbers) {
  Numbers by_name;
  for (const NumberMeaning& number : numbers) {
    by_name.try_emplace({number.name, number.is_column}, &number);
  }
  std::vector<RowPlan> plans;
  for (const ArgumentShape& shape : profile.spans.arguments.shapes) {
    plans.push_back(plan_of(profile, shape, by_name));
  }
  return plans;
}

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
