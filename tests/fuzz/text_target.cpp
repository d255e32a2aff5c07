// Texts that users give: the first byte says which; SQL over a small profile, rules, roles, gates,
// targets, layouts of logs, selections.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>

#include "analysis/profile_builder.hpp"
#include "formats/sigmastar/log_layout.hpp"
#include "formats/tables/draft.hpp"
#include "fuzz/fuzzing.hpp"
#include "npu/targets/ipu/target.hpp"
#include "npu/targets/nsp/target/target.hpp"
#include "npu/targets/torq/target.hpp"
#include "npuscope/analysis/rules.hpp"
#include "npuscope/profile/event_roles.hpp"
#include "npuscope/query/database.hpp"
#include "report/compare/gate_text.hpp"
#include "report/selection.hpp"

namespace {

using namespace npuscope;

Profile small_profile() {
  test_support::ProfileBuilder made;
  const UnitId hmx = made.unit("HMX", Engine::hmx), dma = made.unit("DMA", Engine::dma);
  made.span(dma, "load", 0, 40, SpanKind::transfer);
  made.span(hmx, "MatMul_0", 40, 100, SpanKind::op, "conv");
  made.profile.edges.push_back({made.op("load"), made.op("MatMul_0", "conv"), EdgeKind::data});
  return std::move(made.profile);
}

struct FewRows : query::RowSink {
  std::size_t left = 100;
  void columns(const std::vector<std::string>&) override {}
  bool row(std::span<const query::Cell>) override { return --left > 0; }
};

void expect_words(const auto& result) {
  if (!result && result.error().message.empty()) __builtin_trap();
}

// A line each: from, until, units, ops, core, inference.
void run_selection(const std::string& text) {
  std::istringstream lines(text);
  std::array<std::string, 6> words;
  for (std::string& word : words) std::getline(lines, word);
  const auto number = [](const std::string& word) {
    return word.empty() ? std::optional<std::uint32_t>() : std::uint32_t(std::atoi(word.c_str()));
  };
  const report::Selection selection{words[0], words[1],         words[2],
                                    words[3], number(words[4]), number(words[5])};
  for (const bool cut : {false, true}) {
    const auto part = report::select(small_profile(), selection, {.cut = cut});
    expect_words(part);
    if (part) fuzz::require_sound(part->profile);
  }
  if (report::selection_text(selection).empty() != selection.empty()) __builtin_trap();
}

void run_sql(const std::string& sql) {
  static const Profile profile = small_profile();
  const query::NamedProfile named{"a", &profile};
  auto database =
      query::Database::open({&named, 1}, {std::chrono::milliseconds(200), std::uint64_t{64} << 20});
  if (!database) __builtin_trap();
  FewRows rows;
  expect_words(database->run(sql, rows));
}

// A draft of a table is a description of it, unless it says what it lacks.
void run_draft(const std::string& text) {
  auto source = open_byte_source(std::string_view(text), "fuzz.csv");
  if (!source) return;
  const auto draft = tables::draft_description(**source);
  expect_words(draft);
  if (!draft) return;
  const auto description = tables::parse_description(tables::description_text(*draft), "fuzz.toml");
  const bool is_whole =
      draft->has(tables::TableColumn::Is::op) && draft->has(tables::TableColumn::Is::time);
  if (is_whole != bool(description)) __builtin_trap();
}

const std::array readers{
    +[](const std::string& text) { run_sql(text); },
    +[](const std::string& text) { expect_words(analysis::Rules::parse(text, "fuzz.toml")); },
    +[](const std::string& text) { expect_words(RoleTable::parse(text, "fuzz.toml")); },
    +[](const std::string& text) { expect_words(report::read_gate_file(text, "fuzz.toml")); },
    +[](const std::string& text) { expect_words(report::read_gate(text)); },
    +[](const std::string& text) { expect_words(sigmastar::parse_layout(text, "fuzz.toml")); },
    +[](const std::string& text) { expect_words(npu::nsp::parse_target(text, "fuzz.toml")); },
    +[](const std::string& text) { expect_words(npu::ipu::parse_target(text, "fuzz.toml")); },
    +[](const std::string& text) { expect_words(npu::torq::parse_target(text, "fuzz.toml")); },
    +[](const std::string& text) { run_selection(text); },
    +[](const std::string& text) { expect_words(tables::parse_description(text, "fuzz.toml")); },
    +[](const std::string& text) { run_draft(text); },
};

}  // namespace

std::vector<std::string> npuscope::fuzz::good_inputs() { return {}; }

// 's' SQL, 'r' rules, 'e' roles of events, 'G' a file of gates, 'g' a gate, 'l' a layout, 'n', 'i'
// and 't' targets, 'c' a selection, 'd' a description of a table, 'D' a table to draft one of.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  constexpr std::string_view letters = "sreGglnitcdD";
  static_assert(letters.size() == readers.size());
  if (size == 0) return 0;
  const std::size_t which = letters.find(char(bytes[0]));
  if (which == letters.npos) return 0;
  readers[which](std::string(reinterpret_cast<const char*>(bytes) + 1, size - 1));
  return 0;
}
