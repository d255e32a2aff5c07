#include "formats/perfetto/restore/restore.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "formats/perfetto/known_words.hpp"
#include "formats/perfetto/read/annotations.hpp"
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
  }
  Restorer(const Restorer&) = delete;
  Restorer& operator=(const Restorer&) = delete;

  void run() {
    if (!find_words()) return;
    const std::size_t rows = profile_.spans.size();
    for (std::size_t row = 0; row < rows; ++row) restore_row(row);
    profile_.ops = std::move(ops_);
    read_op_texts(profile_);
    table_.finish(rows);
    profile_.spans.arguments = std::move(given_);
  }

 private:
  using OpKey = std::vector<std::uint64_t>;  // kind, name, then words and their values

  // What becomes of an argument: a word, a number, or itself.
  struct WordOrNumber {
    std::optional<Word> word;
    const NumberMeaning* number = nullptr;
  };

  bool find_words();
  const NumberMeaning* number_in(const ArgumentKey& key) const;
  void take_number(const NumberMeaning& number, const Argument& argument, std::size_t row);
  void restore_row(std::size_t row);
  void take(Word word, const Argument& argument, std::size_t row, OpKey& key);
  OpId op_of(const OpKey& key, StringId name);
  StringId name_without_kind(StringId name, SpanKind kind);

  Profile& profile_;
  std::map<std::pair<StringId, bool>, const NumberMeaning*> numbers_;  // by name, is_column
  std::vector<std::vector<WordOrNumber>> meanings_of_shape_;
  std::map<StringId, std::size_t> column_of_name_;
  ArgumentList list_;
  Arguments given_;
  ArgumentTable table_{given_};
  std::vector<Op> ops_;
  std::map<OpKey, OpId> op_of_key_;
};

bool Restorer::find_words() {
  bool any = false;
  for (const ArgumentShape& shape : profile_.spans.arguments.shapes) {
    std::vector<WordOrNumber> found;
    for (const ArgumentKey& key : shape) {
      found.push_back({word_in(profile_, key), number_in(key)});
      any |= found.back().word.has_value() || found.back().number != nullptr;
    }
    meanings_of_shape_.push_back(std::move(found));
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
  OpKey key = {0, 0};
  list_.clear();
  const SpanKind before = profile_.spans.kind[row];
  for (std::size_t i = 0; i < meanings_of_shape_[shape].size(); ++i) {
    const Argument argument{keys[i], arguments.bits(i)};
    const WordOrNumber& meaning = meanings_of_shape_[shape][i];
    if (meaning.word) {
      take(*meaning.word, argument, row, key);
    } else if (meaning.number != nullptr) {
      take_number(*meaning.number, argument, row);
    } else {
      list_.add(argument.key.name, argument.key.type, argument.bits);
    }
  }
  table_.add(row, list_);
  const std::size_t op = index_of(profile_.spans.op[row]);
  if (op >= profile_.ops.size()) return;
  StringId name = profile_.ops[op].name;
  const SpanKind kind = profile_.spans.kind[row];
  if (kind != before && is_wait(kind)) name = name_without_kind(name, kind);
  key[0] = std::uint64_t(profile_.ops[op].kind);
  key[1] = std::uint64_t(name);
  profile_.spans.op[row] = op_of(key, name);
}

void Restorer::take(Word word, const Argument& argument, std::size_t row, OpKey& key) {
  Spans& spans = profile_.spans;
  switch (word) {
    case Word::span: {
      const auto kinds = words.begin() + std::size_t(Word::first_kind);
      const auto kind = std::find(kinds, words.end(), profile_.strings[argument.text()]);
      if (kind != words.end()) spans.kind[row] = SpanKind(kind - kinds);
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
    default: key.insert(key.end(), {std::uint64_t(word), argument.bits});
  }
}

StringId Restorer::name_without_kind(StringId name, SpanKind kind) {
  const std::string_view text = profile_.strings[name];
  const std::string_view prefix = wait_prefix(kind);
  if (!text.starts_with(prefix) || text.substr(prefix.size(), 1) != " ") return name;
  return profile_.strings.intern(text.substr(prefix.size() + 1));
}

OpId Restorer::op_of(const OpKey& key, StringId name) {
  const auto [entry, is_new] = op_of_key_.try_emplace(key, OpId(ops_.size()));
  if (!is_new) return entry->second;
  Op op;
  op.name = name;
  op.kind = StringId(std::uint32_t(key[0]));
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
