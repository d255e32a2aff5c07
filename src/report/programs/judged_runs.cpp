#include "report/programs/judged_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "base/toml_reader.hpp"
#include "base/try.hpp"
#include "report/words/builtin_pages.hpp"

namespace npuscope::report {
namespace {

using npu::ModelFamily;

constexpr std::pair<std::string_view, Judge> judges[] = {
    {"card", Judge::card}, {"publication", Judge::publication}, {"estimate", Judge::estimate}};
constexpr std::pair<std::string_view, ModelFamily> families[] = {
    {"convolutional", ModelFamily::convolutional},
    {"encoder", ModelFamily::encoder},
    {"decoder", ModelFamily::decoder},
    {"other", ModelFamily::other}};

template <class Value, std::size_t Count>
std::string_view word_of(const std::pair<std::string_view, Value> (&words)[Count], Value value) {
  return std::find_if(std::begin(words), std::end(words),
                      [&](const auto& each) { return each.second == value; })
      ->first;
}

JudgedRun read_run(TomlReader& in) {
  JudgedRun run;
  constexpr double most = 1e300;
  in.text("target", run.target, Needed::yes);
  in.word("judge", judges, run.judge);
  in.text("run", run.run, Needed::yes);
  in.text("figure", run.figure);
  in.word("family", families, run.family);
  in.text("precision", run.precision, Needed::yes);
  in.yes_or_no("network", run.is_network, Needed::yes);
  in.yes_or_no("fitted", run.is_fitted);
  in.number("reference", run.reference, std::numeric_limits<double>::min(), most, Needed::yes);
  in.number("npuscope", run.npuscope, 0, most, Needed::yes);
  in.allow_others();
  return run;
}

}  // namespace

Result<std::vector<JudgedRun>> read_judged_runs(std::string_view text) {
  const TomlFile file{"validation.toml", ErrorKind::input};
  TRY_AS(root, parse_toml(text, file.name, file.error));
  std::vector<JudgedRun> runs;
  TomlReader in(*root, file);
  in.tables(
      "runs", [&](TomlReader& each) { runs.push_back(read_run(each)); }, Needed::yes);
  in.allow_others();
  TRY(in.finish());
  return runs;
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
