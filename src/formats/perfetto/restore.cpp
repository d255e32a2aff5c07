#include "formats/perfetto/restore.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "formats/perfetto/annotations.hpp"
#include "formats/perfetto/known_words.hpp"

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
                       word == Word::output_bytes || word == Word::op_id;
  const bool fits = numeric ? is_integer(key.type) : key.type == ArgumentType::text;
  return fits ? std::optional(word) : std::nullopt;
}

class Restorer {
 public:
  explicit Restorer(Profile& profile) : profile_(profile) {}
  Restorer(const Restorer&) = delete;
  Restorer& operator=(const Restorer&) = delete;

  void run() {
    if (!find_words()) return;
    const std::size_t rows = profile_.spans.size();
    for (std::size_t row = 0; row < rows; ++row) restore_row(row);
    profile_.ops = std::move(ops_);
    if (!given_.empty()) table_.finish(rows);
    profile_.spans.arguments = std::move(given_);
  }

 private:
  using OpKey = std::vector<std::uint64_t>;  // kind, name, then words and their values

  bool find_words();
  void restore_row(std::size_t row);
  void take(Word word, const Argument& argument, std::size_t row, OpKey& key);
  OpId op_of(const OpKey& key, StringId name);
  StringId name_without_kind(StringId name, SpanKind kind);

  Profile& profile_;
  std::vector<std::vector<std::optional<Word>>> words_of_shape_;
  ArgumentList list_;
  Arguments given_;
  ArgumentTable table_{given_};
  std::vector<Op> ops_;
  std::map<OpKey, OpId> op_of_key_;
};

bool Restorer::find_words() {
  bool any = false;
  for (const ArgumentShape& shape : profile_.spans.arguments.shapes) {
    std::vector<std::optional<Word>> found;
    for (const ArgumentKey& key : shape) {
      found.push_back(word_in(profile_, key));
      any |= found.back().has_value();
    }
    words_of_shape_.push_back(std::move(found));
  }
  return any && !profile_.spans.arguments.empty();
}

void Restorer::restore_row(std::size_t row) {
  const Arguments& arguments = profile_.spans.arguments;
  const std::uint32_t shape = arguments.shape[row];
  OpKey key = {0, 0};
  list_.clear();
  const SpanKind before = profile_.spans.kind[row];
  for (std::size_t i = 0; i < words_of_shape_[shape].size(); ++i) {
    const Argument argument = arguments.at(row, i);
    if (const auto word = words_of_shape_[shape][i]) {
      take(*word, argument, row, key);
    } else {
      list_.add(argument.key.name, argument.key.type, argument.bits);
    }
  }
  ArgumentPlace place;
  if (!list_.empty() && table_.place(list_, place)) table_.set(row, place);
  const std::size_t op = index_of(profile_.spans.op[row]);
  if (op >= profile_.ops.size()) return;
  StringId name = profile_.ops[op].name;
  const SpanKind kind = profile_.spans.kind[row];
  if (kind != before && waits(kind)) name = name_without_kind(name, kind);
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
  const std::string_view prefix = text_of(word_of(kind));
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
      default: break;
    }
  }
  ops_.push_back(op);
  return entry->second;
}

}  // namespace

void restore_known_words(Profile& profile) { Restorer(profile).run(); }

}  // namespace npuscope::perfetto
