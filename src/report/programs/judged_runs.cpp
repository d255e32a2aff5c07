#include "report/programs/judged_runs.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/try.hpp"
#include "report/words/builtin_pages.hpp"

namespace npuscope::report {
namespace {

using npu::ModelFamily;

constexpr std::array<std::pair<Judge, std::string_view>, 3> judges{
    {{Judge::card, "card"}, {Judge::publication, "publication"}, {Judge::estimate, "estimate"}}};
constexpr std::array<std::pair<ModelFamily, std::string_view>, 4> families{
    {{ModelFamily::convolutional, "convolutional"},
     {ModelFamily::encoder, "encoder"},
     {ModelFamily::decoder, "decoder"},
     {ModelFamily::other, "other"}}};

template <class Words, class Value>
std::string_view word_of(const Words& words, Value value) {
  return std::ranges::find(words, value, &Words::value_type::first)->second;
}

// Takes what is asked for, and keeps the first key that is not as it should be.
class RunReader {
 public:
  explicit RunReader(const toml::table& table) : table_(table) {}

  template <class Value>
  Value take(std::string_view key) {
    const std::optional<Value> value = table_[key].value<Value>();
    if (!value && wrong_.empty()) wrong_ = key;
    return value.value_or(Value{});
  }
  template <class Words>
  auto take_word(std::string_view key, const Words& words) {
    const auto text = take<std::string>(key);
    const auto found = std::ranges::find(words, text, &Words::value_type::second);
    if (found == words.end() && wrong_.empty()) wrong_ = key;
    return found == words.end() ? words[0].first : found->first;
  }
  const std::string& wrong() const { return wrong_; }

 private:
  const toml::table& table_;
  std::string wrong_;
};

Result<JudgedRun> read_run(const toml::table& table) {
  RunReader in(table);
  JudgedRun run;
  run.target = in.take<std::string>("target");
  run.judge = in.take_word("judge", judges);
  run.run = in.take<std::string>("run");
  run.figure = in.take<std::string>("figure");
  run.family = in.take_word("family", families);
  run.precision = in.take<std::string>("precision");
  run.is_network = in.take<bool>("network");
  run.is_fitted = in.take<bool>("fitted");
  run.reference = in.take<double>("reference");
  run.npuscope = in.take<double>("npuscope");
  std::string wrong = in.wrong();
  if (wrong.empty() && !(run.reference > 0)) wrong = "reference";
  if (wrong.empty()) return run;
  return input_error(
      "validation.toml:{}: '{}' is missing or not as its kind is; see its other runs",
      table.source().begin.line, wrong);
}

}  // namespace

Result<std::vector<JudgedRun>> read_judged_runs(std::string_view text) {
  try {
    const toml::table root = toml::parse(text);
    std::vector<JudgedRun> runs;
    const toml::array* list = root["runs"].as_array();
    if (list == nullptr) return input_error("validation.toml: no list of runs; write one");
    for (const toml::node& each : *list) {
      if (!each.is_table()) return input_error("validation.toml: a run that is not a table");
      TRY_AS(run, read_run(*each.as_table()));
      runs.push_back(std::move(*run));
    }
    return runs;
  } catch (const toml::parse_error& error) {
    return input_error("validation.toml:{}: {}; correct the line", error.source().begin.line,
                       error.description());
  }
}

const std::vector<JudgedRun>& judged_runs() {
  static const std::vector<JudgedRun> runs = [] {
    for (const auto& [name, text] : builtin_pages) {
      if (name == "validation") return read_judged_runs(text).value_or(std::vector<JudgedRun>{});
    }
    return std::vector<JudgedRun>{};
  }();
  return runs;
}

std::string judged_runs_toml(std::span<const JudgedRun> runs) {
  std::string text;
  for (const JudgedRun& run : runs) {
    text += fmt::format(
        "  {{target = \"{}\", judge = \"{}\", run = \"{}\", figure = \"{}\", family = \"{}\", "
        "precision = \"{}\", network = {}, fitted = {}, reference = {:#.8g}, npuscope = "
        "{:#.8g}}},\n",
        run.target, word_of(judges, run.judge), run.run, run.figure, word_of(families, run.family),
        run.precision, run.is_network, run.is_fitted, run.reference, run.npuscope);
  }
  return text;
}

}  // namespace npuscope::report
