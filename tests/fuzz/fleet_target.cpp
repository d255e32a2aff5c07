// What a fleet's store may answer: another program wrote the file, or what runs at an address is no
// ClickHouse. The first byte says which:
//
//   v  a good store; the bytes decide which cells of its answers become what, rows and columns too
//   f  a good store's file, of which the bytes change some
//   t  the text of an answer, which is taken whole and in pieces
//
// Of each store all questions are asked and their pages are made.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "choices.hpp"
#include "fleet/clickhouse/tab_separated.hpp"
#include "fleet/facts.hpp"
#include "fleet/small_runs.hpp"
#include "fuzz/fuzzing.hpp"
#include "jobs/fleet/fleet_report.hpp"

namespace npuscope::fuzz {
namespace {

using test::Choices;

void make_store(const std::filesystem::path& file) {
  fleet::Batch batch;
  for (std::uint64_t number = 0; number < 6; ++number) {
    const auto build = std::int64_t(number / 2);
    const auto labels =
        fleet::Labels::parse({fmt::format("build={}", build), fmt::format("device=d{}", number)});
    if (!labels) __builtin_trap();
    const fleet::SmallRun run{.number = number + 1,
                              .work = {90, 20 + 10 * build, 30 + std::int64_t(number), 40},
                              .damaged = number == 5,
                              .kernel = number < 3 ? "conv" : "conv2"};
    fleet::add_facts(fleet::profile_of(run),
                     {fleet::content(run.number), 1'000'000, *labels, false}, batch);
  }
  auto store = fleet::open_store(file, fleet::StoreMode::make);
  if (!store || !(*store)->add(batch)) __builtin_trap();
}

const std::string& good_store() {
  static const std::string bytes = [] {
    const ScratchFolder folder;
    make_store(folder.file("good.db"));
    return contents(folder.file("good.db"));
  }();
  return bytes;
}

// Hands on what the bytes leave of an answer.
class ChangedRows : public query::RowSink {
 public:
  ChangedRows(query::RowSink& to, Choices& choices) : to_(to), choices_(choices) {}

  void columns(const std::vector<std::string>& names) override {
    std::vector<std::string> changed = names;
    if (choices_.below(64) == 1) changed.emplace_back("another");
    if (choices_.below(64) == 1) changed.pop_back();
    columns_ = changed.size();
    to_.columns(changed);
  }

  bool row(std::span<const query::Cell> cells) override {
    const std::size_t times = choices_.below(32) == 1 ? choices_.below(4) : 1;
    std::vector<query::Cell> changed(cells.begin(), cells.end());
    changed.resize(columns_);
    for (query::Cell& cell : changed) change(cell);
    bool goes_on = true;
    for (std::size_t i = 0; i < times && goes_on; ++i) goes_on = to_.row(changed);
    return goes_on;
  }

 private:
  void change(query::Cell& cell) {
    constexpr auto min = std::numeric_limits<std::int64_t>::min();
    static const std::string long_text(300, 'x');
    switch (choices_.below(32)) {
      case 1: cell = std::monostate(); break;
      case 2: cell = std::int64_t(choices_.below(256)) - 128; break;
      case 3: cell = choices_.below(2) == 0 ? min : -(min + 1); break;
      case 4: cell = std::numeric_limits<double>::quiet_NaN(); break;
      case 5: cell = std::numeric_limits<double>::infinity(); break;
      case 6: cell = -1e300; break;
      case 7: cell = 1e-300; break;
      case 8: cell = std::string_view("\xff\n\t\x1b[31m", 8); break;
      case 9: cell = std::string_view(long_text); break;
      case 10: cell = std::string_view(); break;
      default: break;
    }
  }

  query::RowSink& to_;
  Choices& choices_;
  std::size_t columns_ = 0;
};

class ChangedStore : public fleet::Store {
 public:
  ChangedStore(fleet::Store& store, Choices& choices) : store_(store), choices_(choices) {}

  Result<fleet::Added> add(const fleet::Batch& batch) override { return store_.add(batch); }
  Result<fleet::Removed> remove(std::span<const fleet::Id> runs) override {
    return store_.remove(runs);
  }
  Status run(std::string_view sql, query::RowSink& sink) override {
    ChangedRows changed(sink, choices_);
    return store_.run(sql, changed);
  }
  Status copy_to(const std::filesystem::path& file) override { return store_.copy_to(file); }
  std::vector<std::string> percentiles(std::string_view value,
                                       const std::vector<double>& percents) const override {
    return store_.percentiles(value, percents);
  }
  const std::string& name() const override { return store_.name(); }

 private:
  fleet::Store& store_;
  Choices& choices_;
};

void show(const report::Document& document) {
  if (report::document_text(document, 100).empty()) __builtin_trap();
  if (!nlohmann::json::accept(report::document_json(document, {}))) __builtin_trap();
}

void ask_all(fleet::Store& store) {
  const report::FleetHead head{"fleet.db", ""};
  const auto report = jobs::fleet_report(store, head, {.by = {"device"}, .along = "build"});
  if (is_read(report)) {
    for (const auto& page : report->pages) show(page.document);
    for (const auto& [command, why] : report->missing) {
      if (why.empty()) __builtin_trap();
    }
  }
  const auto changes = fleet::compare_ops(store, {}, "build = 0", "build = 1", {});
  if (is_read(changes)) show(report::fleet_changes_document(head, *changes));
  is_read(fleet::runs_before(store, {}, 2'000'000));
}

void run_values(std::string_view bytes) {
  static const ScratchFolder folder;
  static const auto store = [] {
    make_store(folder.file("values.db"));
    return fleet::open_store(folder.file("values.db"), fleet::StoreMode::read);
  }();
  if (!store) __builtin_trap();
  Choices choices{std::string(bytes)};
  ChangedStore changed(**store, choices);
  ask_all(changed);
}

// Four bytes a change: place (two), what to write, how often.
void run_file(std::string_view bytes) {
  std::string file = good_store();
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    const auto at = [&](std::size_t place) { return std::size_t(std::uint8_t(bytes[i + place])); };
    const std::size_t first = (at(0) << 8 | at(1)) * 7 % file.size();
    for (std::size_t k = 0; k <= at(3) % 16 && first + k < file.size(); ++k) {
      file[first + k] = bytes[i + 2];
    }
  }
  const ScratchFolder folder;
  folder.write("changed.db", file);
  const auto store = fleet::open_store(folder.file("changed.db"), fleet::StoreMode::read,
                                       {.time = std::chrono::milliseconds(500)});
  if (is_read(store)) ask_all(**store);
}

// As one text, so that two ways of taking an answer can be compared.
struct Written : query::RowSink {
  void columns(const std::vector<std::string>& names) override {
    for (const std::string& name : names) text += name + '\t';
  }
  bool row(std::span<const query::Cell> cells) override {
    for (const query::Cell& cell : cells) {
      if (const auto* whole = std::get_if<std::int64_t>(&cell)) text += fmt::format("{}", *whole);
      if (const auto* real = std::get_if<double>(&cell)) text += fmt::format("{}", *real);
      if (const auto* word = std::get_if<std::string_view>(&cell)) text += *word;
      text += fmt::format("\t{}", cell.index());
    }
    return true;
  }
  std::string text;
};

void run_text(std::string_view bytes) {
  Written whole, pieces;
  fleet::TabSeparated at_once(whole), by_pieces(pieces);
  at_once.take(bytes);
  for (std::size_t size = 1; !bytes.empty(); size = size % 5 + 1) {
    const std::string_view piece = bytes.substr(0, size);
    if (!by_pieces.take(piece)) break;
    bytes.remove_prefix(piece.size());
  }
  const Status all = at_once.finish(), each = by_pieces.finish();
  if (is_read(all) != is_read(each) || whole.text != pieces.text) __builtin_trap();
}

}  // namespace

std::vector<std::string> good_inputs() {
  std::string spread = "v";
  for (int i = 0; i < 2'000; ++i) spread += char(i * 37 % 256);
  return {"v",
          "v" + std::string(500, '\0') + "\x01\x02\x03",
          spread,
          "f",
          std::string("f\x02\x00\xff\x03\x40\x00\x00\x01", 9),
          "top\tp50\nInt64\tNullable(Float64)\n17\t2.5\n-1\t\\N\n",
          "tname\nLowCardinality(String)\na\\tb\\\\\\n\n\n"};
}

}  // namespace npuscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  switch (bytes[0]) {
    case 'v': npuscope::fuzz::run_values(rest); break;
    case 'f': npuscope::fuzz::run_file(rest); break;
    case 't': npuscope::fuzz::run_text(rest); break;
    default: break;
  }
  return 0;
}
