#include "formats/perfetto/restore/row_plan.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

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

}  // namespace npuscope::perfetto
