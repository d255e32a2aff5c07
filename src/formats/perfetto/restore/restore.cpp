#include "formats/perfetto/restore/restore.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "formats/perfetto/known_words.hpp"
#include "formats/perfetto/restore/restored_rows.hpp"
#include "profile/names.hpp"
#include "profile/shape_texts.hpp"

namespace npuscope::perfetto {
namespace {

class Restorer {
 public:
  Restorer(Profile& profile, const std::vector<NumberMeaning>& numbers) : profile_(profile) {
    plan_.plans = row_plans(profile, numbers);
    for (std::size_t kind = 0; kind < span_kind_count; ++kind) {
      plan_.kind_texts[kind] = profile.strings.find(text_of(word_of(SpanKind(kind))));
    }
  }
  Restorer(const Restorer&) = delete;
  Restorer& operator=(const Restorer&) = delete;

  void run() {
    const bool any = std::ranges::any_of(plan_.plans, &RowPlan::restores);
    if (!any || profile_.spans.arguments.empty()) return;
    make_columns();
    std::vector<RestoredRows> parts;
    for (const RowRange& rows : ranges_of(profile_.spans.size())) {
      parts.emplace_back(profile_, plan_, rows);
    }
    parallel_for(parts.size(), [&](std::size_t part) { parts[part].restore(); });
    take_measures(parts);
    take_ops(parts);
    read_op_texts(profile_);
    std::vector<std::vector<std::uint32_t>> staying;
    for (RowPlan& plan : plan_.plans) staying.push_back(std::move(plan.staying));
    profile_.spans.arguments.keep_places(staying);
  }

 private:
  using OpKey = std::vector<std::uint64_t>;  // kind, name, then words and their values

  std::vector<std::uint32_t> shapes_by_first_row() const;
  void make_columns();
  void take_measures(std::vector<RestoredRows>& parts);
  void take_ops(const std::vector<RestoredRows>& parts);
  OpId op_of(const RestoredOp& restored);
  StringId name_without_kind(StringId name, SpanKind kind);

  Profile& profile_;
  RestorePlan plan_;
  std::vector<Op> ops_;
  std::map<OpKey, OpId> op_of_key_;
};

// Of those that rows have.
std::vector<std::uint32_t> Restorer::shapes_by_first_row() const {
  constexpr std::uint32_t none = ~std::uint32_t{0};
  const std::vector<RowRange> parts = ranges_of(profile_.spans.size());
  std::vector<std::vector<std::uint32_t>> shapes(parts.size());
  parallel_for(parts.size(), [&](std::size_t part) {
    std::vector<bool> seen(plan_.plans.size(), false);
    std::uint32_t last = none;
    for (std::size_t row = parts[part].first; row < parts[part].last; ++row) {
      const std::uint32_t shape = profile_.spans.arguments.shape(row);
      if (shape == std::exchange(last, shape) || seen[shape]) continue;
      seen[shape] = true;
      shapes[part].push_back(shape);
    }
  });
  std::vector<bool> seen(plan_.plans.size(), false);
  std::vector<std::uint32_t> all;
  for (const std::vector<std::uint32_t>& of_part : shapes) {
    for (const std::uint32_t shape : of_part) {
      if (!seen[shape]) all.push_back(shape);
      seen[shape] = true;
    }
  }
  return all;
}

// Those that any row has something for.
void Restorer::make_columns() {
  const auto has_columns = [](const RowPlan& plan) {
    return !plan.columns.empty() || std::ranges::any_of(plan.of_span, [](const auto& word) {
      return word.word != Word::span;
    });
  };
  if (std::ranges::none_of(plan_.plans, has_columns)) return;
  Spans& spans = profile_.spans;
  const std::vector<std::uint32_t> shapes = shapes_by_first_row();
  for (const std::uint32_t shape : shapes) {
    for (const auto& [place, word] : plan_.plans[shape].of_span) {
      if (word == Word::inference && spans.instance.empty()) {
        spans.instance.assign(spans.size(), every_instance);
      }
      if (word == Word::processor_cycles && spans.processor_cycles.empty()) {
        spans.processor_cycles.assign(spans.size(), -1);
      }
    }
  }
  std::map<StringId, std::size_t> column_of_name;
  for (const std::uint32_t shape : shapes) {
    for (auto& [place, number, column] : plan_.plans[shape].columns) {
      const auto [found, is_new] = column_of_name.try_emplace(number->name, spans.measures.size());
      column = found->second;
      if (!is_new) continue;
      spans.measures.push_back(
          {number->name, number->kind, number->origin, number->meaning, number->clock, {}});
      spans.measures.back().values.assign(spans.size(), MeasureColumn::missing);
    }
  }
}

void Restorer::take_measures(std::vector<RestoredRows>& parts) {
  for (RestoredRows& part : parts) {
    profile_.measures.insert(profile_.measures.end(), part.measures().begin(),
                             part.measures().end());
    part.measures() = {};
  }
}

void Restorer::take_ops(const std::vector<RestoredRows>& parts) {
  std::vector<std::vector<OpId>> numbers(parts.size());
  for (std::size_t part = 0; part < parts.size(); ++part) {
    for (const RestoredOp* const op : parts[part].ops()) numbers[part].push_back(op_of(*op));
  }
  parallel_for(parts.size(), [&](std::size_t part) {
    const RowRange rows = parts[part].rows();
    for (std::size_t row = rows.first; row < rows.last; ++row) {
      OpId& op = profile_.spans.op[row];
      if (index_of(op) < numbers[part].size()) op = numbers[part][index_of(op)];
    }
  });
  profile_.ops = std::move(ops_);
}

StringId Restorer::name_without_kind(StringId name, SpanKind kind) {
  const std::string_view text = profile_.strings[name];
  const std::string_view prefix = wait_prefix(kind);
  if (!text.starts_with(prefix) || text.substr(prefix.size(), 1) != " ") return name;
  return profile_.strings.intern(text.substr(prefix.size() + 1));
}

OpId Restorer::op_of(const RestoredOp& restored) {
  const Op& was = profile_.ops[index_of(restored.was)];
  const StringId name = restored.wait ? name_without_kind(was.name, *restored.wait) : was.name;
  OpKey key = {std::uint64_t(was.kind), std::uint64_t(name)};
  key.insert(key.end(), restored.words.begin(), restored.words.end());
  const auto [entry, is_new] = op_of_key_.try_emplace(std::move(key), OpId(ops_.size()));
  if (!is_new) return entry->second;
  Op op;
  op.name = name;
  op.kind = was.kind;
  for (std::size_t i = 0; i + 1 < restored.words.size(); i += 2) {
    const std::uint64_t bits = restored.words[i + 1];
    const auto text = StringId(std::uint32_t(bits));
    switch (Word(restored.words[i])) {
      case Word::node: op.node = text; break;
      case Word::node_kind: op.node_kind = text; break;
      case Word::memory: op.memory = text; break;
      case Word::types: op.types = text; break;
      case Word::shape: op.shape = text; break;
      case Word::attributes: op.attributes = text; break;
      case Word::operands: op.operands = text; break;
      case Word::split_from: op.split_from = text; break;
      case Word::provider: op.provider = text; break;
      case Word::output_bytes: op.output = Bytes{std::int64_t(bits)}; break;
      case Word::op_id: op.id = bits; break;
      case Word::engine:
        op.engine = value_named<Engine>(profile_.strings[text]).value_or(Engine::none);
        break;
      case Word::core: op.core = std::uint32_t(bits); break;
      case Word::group: op.group = std::uint32_t(bits); break;
      case Word::position: op.position = std::uint32_t(bits); break;
      case Word::once_per_inference: op.once_per_inference = bits != 0; break;
      default: break;
    }
  }
  ops_.push_back(op);
  return entry->second;
}

}  // namespace

void restore_known_words(Profile& profile, const std::vector<NumberMeaning>& numbers) {
  Restorer(profile, numbers).run();
}

}  // namespace npuscope::perfetto
