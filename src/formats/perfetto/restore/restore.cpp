#include "formats/perfetto/restore/restore.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "formats/perfetto/known_words.hpp"
#include "profile/names.hpp"
#include "profile/shape_texts.hpp"

namespace npuscope::perfetto {
namespace {

bool is_integer(ArgumentType type) { return type == ArgumentType::integer; }

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
  const bool fits = numeric ? is_integer(key.type) : key.type == ArgumentType::text;
  return fits ? std::optional(word) : std::nullopt;
}

class Restorer {
 public:
  Restorer(Profile& profile, const std::vector<NumberMeaning>& numbers) : profile_(profile) {
    for (const NumberMeaning& number : numbers) {
      numbers_.try_emplace({number.name, number.is_column}, &number);
    }
    for (std::size_t kind = 0; kind < span_kind_count; ++kind) {
      kind_texts_[kind] = profile.strings.find(text_of(word_of(SpanKind(kind))));
    }
  }
  Restorer(const Restorer&) = delete;
  Restorer& operator=(const Restorer&) = delete;

  void run() {
    if (!plan_shapes()) return;
    const std::size_t rows = profile_.spans.size();
    recent_ops_.resize(profile_.ops.size());
    for (std::size_t row = 0; row < rows; ++row) restore_row(row);
    profile_.ops = std::move(ops_);
    read_op_texts(profile_);
    profile_.spans.arguments.keep_places(staying_of_shape_);
  }

 private:
  using OpKey = std::vector<std::uint64_t>;  // kind, name, then words and their values

  // What becomes of the arguments of rows with the same keys, by their places in the row: words,
  // and numbers; the others stay.
  struct Plan {
    std::vector<std::pair<std::size_t, Word>> words;
    std::vector<std::pair<std::size_t, const NumberMeaning*>> numbers;
  };
  // What the last row of an op became.
  struct RecentOp {
    bool known = false;
    StringId name{};
    std::vector<std::uint64_t> words;
    OpId op{};
  };

  bool plan_shapes();
  const NumberMeaning* number_in(const ArgumentKey& key) const;
  void take_number(const NumberMeaning& number, const Argument& argument, std::size_t row);
  void restore_row(std::size_t row);
  void take(Word word, const Argument& argument, std::size_t row);
  OpId op_of(StringId kind, StringId name);
  StringId name_without_kind(StringId name, SpanKind kind);

  Profile& profile_;
  std::map<std::pair<StringId, bool>, const NumberMeaning*> numbers_;  // by name, is_column
  std::vector<Plan> plan_of_shape_;
  std::vector<std::vector<std::uint32_t>> staying_of_shape_;
  std::map<StringId, std::size_t> column_of_name_;
  std::vector<Op> ops_;
  std::array<std::optional<StringId>, span_kind_count> kind_texts_;  // none: not in the trace
  std::optional<StringId> last_kind_text_;
  std::ptrdiff_t last_kind_ = 0;  // in `kind_texts_`
  std::map<OpKey, OpId> op_of_key_;
  std::vector<std::uint64_t> words_;  // of the row at hand that say something of its op, and values
  std::vector<RecentOp> recent_ops_;  // by the op that the row had
};

// Whether there is anything to restore.
bool Restorer::plan_shapes() {
  bool any = false;
  for (const ArgumentShape& shape : profile_.spans.arguments.shapes) {
    Plan& plan = plan_of_shape_.emplace_back();
    std::vector<std::uint32_t>& staying = staying_of_shape_.emplace_back();
    for (std::size_t place = 0; place < shape.size(); ++place) {
      const ArgumentKey& key = shape[place];
      const std::optional<Word> word = word_in(profile_, key);
      const NumberMeaning* const number = word ? nullptr : number_in(key);
      if (word) {
        plan.words.push_back({place, *word});
      } else if (number != nullptr) {
        plan.numbers.push_back({place, number});
      } else {
        staying.push_back(std::uint32_t(place));
      }
    }
    any |= !plan.words.empty() || !plan.numbers.empty();
  }
  return any && !profile_.spans.arguments.empty();
}

const NumberMeaning* Restorer::number_in(const ArgumentKey& key) const {
  if (key.type != ArgumentType::integer && key.type != ArgumentType::number) return nullptr;
  const auto found = numbers_.find({key.name, key.type == ArgumentType::integer});
  return found == numbers_.end() ? nullptr : found->second;
}

void Restorer::take_number(const NumberMeaning& number, const Argument& argument, std::size_t row) {
  if (!number.is_column) {
    profile_.measures.push_back({Measure::Subject::span, std::uint32_t(row), number.name,
                                 number.kind, number.origin, number.meaning, number.clock,
                                 argument.number(), every_instance, number.event});
    return;
  }
  auto& columns = profile_.spans.measures;
  const auto [place, is_new] = column_of_name_.try_emplace(number.name, columns.size());
  if (is_new) {
    columns.push_back({number.name, number.kind, number.origin, number.meaning, number.clock, {}});
    columns.back().values.assign(profile_.spans.size(), MeasureColumn::missing);
  }
  columns[place->second].values[row] = argument.integer();
}

void Restorer::restore_row(std::size_t row) {
  const ArgumentRow arguments = profile_.spans.arguments.row(row);
  const std::uint32_t shape = arguments.shape();
  const ArgumentKey* const keys = profile_.spans.arguments.shapes[shape].data();
  const Plan& plan = plan_of_shape_[shape];
  words_.clear();
  const SpanKind before = profile_.spans.kind[row];
  for (const auto& [place, word] : plan.words) {
    take(word, {keys[place], arguments.bits(place)}, row);
  }
  for (const auto& [place, number] : plan.numbers) {
    take_number(*number, {keys[place], arguments.bits(place)}, row);
  }
  const std::size_t op = index_of(profile_.spans.op[row]);
  if (op >= profile_.ops.size()) return;
  StringId name = profile_.ops[op].name;
  const SpanKind kind = profile_.spans.kind[row];
  if (kind != before && is_wait(kind)) name = name_without_kind(name, kind);
  RecentOp& recent = recent_ops_[op];
  if (!recent.known || recent.name != name || recent.words != words_) {
    recent = {true, name, words_, op_of(profile_.ops[op].kind, name)};
  }
  profile_.spans.op[row] = recent.op;
}

void Restorer::take(Word word, const Argument& argument, std::size_t row) {
  Spans& spans = profile_.spans;
  switch (word) {
    case Word::span: {
      if (argument.text() != last_kind_text_) {
        last_kind_text_ = argument.text();
        last_kind_ = std::ranges::find(kind_texts_, argument.text()) - kind_texts_.begin();
      }
      if (last_kind_ < std::ptrdiff_t(span_kind_count)) spans.kind[row] = SpanKind(last_kind_);
      return;
    }
    case Word::inference:
      if (spans.instance.empty()) spans.instance.assign(spans.size(), every_instance);
      spans.instance[row] = std::uint32_t(argument.bits);
      return;
    case Word::processor_cycles:
      if (spans.processor_cycles.empty()) spans.processor_cycles.assign(spans.size(), -1);
      spans.processor_cycles[row] = argument.integer();
      return;
    default: words_.insert(words_.end(), {std::uint64_t(word), argument.bits});
  }
}

StringId Restorer::name_without_kind(StringId name, SpanKind kind) {
  const std::string_view text = profile_.strings[name];
  const std::string_view prefix = wait_prefix(kind);
  if (!text.starts_with(prefix) || text.substr(prefix.size(), 1) != " ") return name;
  return profile_.strings.intern(text.substr(prefix.size() + 1));
}

OpId Restorer::op_of(StringId kind, StringId name) {
  OpKey key = {std::uint64_t(kind), std::uint64_t(name)};
  key.insert(key.end(), words_.begin(), words_.end());
  const auto [entry, is_new] = op_of_key_.try_emplace(key, OpId(ops_.size()));
  if (!is_new) return entry->second;
  Op op;
  op.name = name;
  op.kind = kind;
  for (std::size_t i = 2; i + 1 < key.size(); i += 2) {
    const auto text = StringId(std::uint32_t(key[i + 1]));
    switch (Word(key[i])) {
      case Word::node: op.node = text; break;
      case Word::node_kind: op.node_kind = text; break;
      case Word::memory: op.memory = text; break;
      case Word::types: op.types = text; break;
      case Word::shape: op.shape = text; break;
      case Word::attributes: op.attributes = text; break;
      case Word::operands: op.operands = text; break;
      case Word::output_bytes: op.output = Bytes{std::int64_t(key[i + 1])}; break;
      case Word::op_id: op.id = key[i + 1]; break;
      case Word::engine:
        op.engine = value_named<Engine>(profile_.strings[text]).value_or(Engine::none);
        break;
      case Word::core: op.core = std::uint32_t(key[i + 1]); break;
      case Word::group: op.group = std::uint32_t(key[i + 1]); break;
      case Word::position: op.position = std::uint32_t(key[i + 1]); break;
      case Word::once_per_inference: op.once_per_inference = key[i + 1] != 0; break;
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
