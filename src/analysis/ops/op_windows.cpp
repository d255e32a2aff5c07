#include "analysis/ops/op_windows.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "analysis/answers.hpp"
#include "analysis/findings/context.hpp"
#include "analysis/ops/row_names.hpp"
#include "base/sort_rows.hpp"
#include "npuscope/analysis/macs.hpp"

namespace npuscope::analysis {
namespace {

constexpr double bound_by = 0.8, dispatch_by = 0.3;

enum Class : std::uint8_t { hvx, hmx, dma, conversion, any, classes };

struct Piece {
  Interval time;
  std::uint32_t row;  // of the table
};

class WindowTable {
 public:
  WindowTable(const Analysis& analysis, const Peaks& peaks)
      : analysis_(analysis),
        profile_(analysis.profile()),
        windows_(profile_.spans.measure(NumberRole::op_window)),
        dma_cycles_(profile_.spans.measure(NumberRole::dma_cycles)) {
    const auto &of_chip = peaks.ddr_bytes_per_s, &of_core = peaks.ddr_bytes_per_s_per_core;
    table_.ddr_peak = of_chip && of_core ? std::min(*of_chip, *of_core) : of_chip;
  }

  OpWindows make() {
    if (windows_ == nullptr) return {};
    name_rows();
    take_spans();
    finish();
    return std::move(table_);
  }

 private:
  void name_rows() {
    std::vector<std::string_view> labels;
    for (const Op& op : profile_.ops) labels.push_back(profile_.text(op.label()));
    const RowNames names(labels, true);
    std::unordered_map<std::string_view, std::uint32_t> known;
    for (std::uint32_t i = 0; i < labels.size(); ++i) {
      const auto [found, is_new] =
          known.try_emplace(names.of(i), std::uint32_t(table_.rows.size()));
      if (is_new) {
        OpWindow row;
        row.label = names.of(i);
        row.layers = names.layers(i);
        table_.rows.push_back(row);
      }
      row_of_.push_back(found->second);
    }
    sums_.resize(table_.rows.size());
  }

  void take_spans() {
    const Spans& spans = profile_.spans;
    const OpMacs macs(profile_);
    const OpTraffic& traffic = analysis_.traffic();
    const std::vector<bool> converts = ops_that_convert();
    std::vector<bool> is_hvx(profile_.units.size(), false);
    std::array<std::vector<Piece>, classes> pieces;
    for (std::uint32_t row = 0; row < spans.size(); ++row) {
      const std::size_t op = index_of(spans.op[row]);
      if (op >= profile_.ops.size()) continue;
      const std::uint32_t of = row_of_[op];
      sums_[of].bytes += double(traffic.of_span(Route::ddr_read, row));
      const std::int64_t window = windows_->values[row];
      if (window != MeasureColumn::missing) {
        OpWindow& into = table_.rows[of];
        into.runs += 1;
        into.window += double(window);
        into.is_partial |= spans.kind[row] != SpanKind::annotation;
        sums_[of].macs += macs.of(spans.op[row]).value_or(0);
        const std::int64_t cycles =
            spans.processor_cycles.empty() ? 0 : spans.processor_cycles[row];
        const bool knows_dma =
            dma_cycles_ != nullptr && dma_cycles_->values[row] != MeasureColumn::missing;
        if (knows_dma && cycles > 0) {
          sums_[of].dma_cycles += double(dma_cycles_->values[row]);
          sums_[of].cycles += double(cycles);
        }
        continue;
      }
      if (role_of(spans.kind[row]) != Role::work) continue;
      const Engine engine = engine_of(profile_, row);
      const Interval time = interval_of(spans, row);
      pieces[any].push_back({time, of});
      const Class of_engine = engine == Engine::hvx   ? hvx
                              : engine == Engine::hmx ? hmx
                              : engine == Engine::dma ? dma
                                                      : classes;
      if (of_engine == classes) continue;
      pieces[of_engine].push_back({time, of});
      if (converts[op]) pieces[conversion].push_back({time, of});
      sums_[of].work[of_engine] += double(length_of(time));
      if (engine == Engine::hvx) is_hvx[index_of(spans.unit[row])] = true;
    }
    table_.hvx_units = std::uint32_t(std::count(is_hvx.begin(), is_hvx.end(), true));
    table_.has_events = !pieces[any].empty();
    for (std::size_t i = 0; i < classes; ++i) cover(pieces[i], Class(i));
  }

  // Pieces of one op do not reach into the window of another, so that of all that one class does
  // the union is that of the rows apart, but for ops of several sessions at once.
  void cover(std::vector<Piece>& pieces, Class of) {
    std::ranges::sort(pieces, [](const Piece& a, const Piece& b) {
      return std::tie(a.row, a.time.begin, a.time.end) < std::tie(b.row, b.time.begin, b.time.end);
    });
    std::uint32_t row = ~std::uint32_t{0};
    std::int64_t end = 0;
    for (const Piece& piece : pieces) {
      if (piece.row != row) end = piece.time.begin;
      row = piece.row;
      const std::int64_t begin = std::max(end, piece.time.begin);
      if (piece.time.end <= begin) continue;
      sums_[row].covered[of] += double(piece.time.end - begin);
      end = piece.time.end;
    }
  }

  // Kernels that make weights or activations ready, by rules/kernels.toml.
  std::vector<bool> ops_that_convert() const {
    const Rules& rules = kernel_rules();
    const std::vector<std::uint32_t> of = rules.of(profile_);
    std::vector<bool> converts;
    for (const std::uint32_t rule : of) {
      converts.push_back(rule < rules.size() && rules.name(rule) == "dequantisation");
    }
    return converts;
  }

  void finish() {
    const std::size_t base = index_of(profile_.base_clock);
    const double hertz = base < profile_.clocks.size() ? profile_.clocks[base].rate.value : 0;
    for (const Measure& measure : profile_.measures) {
      if (measure.meaning.role == NumberRole::best_ddr_rate) {
        table_.best_bytes_per_s = measure.value;
      }
    }
    for (std::size_t i = 0; i < table_.rows.size(); ++i) {
      OpWindow& row = table_.rows[i];
      const Sums& sums = sums_[i];
      table_.total += row.window;
      if (!(row.window > 0)) continue;
      row.has_events = table_.has_events && (sums.covered[any] > 0 || !row.is_partial);
      const auto use = [&](Class of, double units) {
        return EngineUse{sums.covered[of] / row.window,
                         units > 0 ? sums.work[of] / row.window / units : 0};
      };
      row.hvx = use(hvx, table_.hvx_units);
      row.hmx = use(hmx, 1);
      row.dma = use(dma, table_.hvx_units);
      if (sums.cycles > 0) row.dma_engine = sums.dma_cycles / sums.cycles;
      row.converting = sums.covered[conversion] / row.window;
      row.without_event = std::max(0.0, 1 - sums.covered[any] / row.window);
      row.is_partial = row.is_partial && table_.has_events;
      const double seconds = hertz > 0 ? row.window / hertz : 0;
      if (seconds > 0 && sums.macs > 0) row.macs_per_s = sums.macs / seconds;
      if (seconds > 0 && sums.bytes > 0) row.bytes_per_s = sums.bytes / seconds;
      row.bound = bound_of(row);
      // Of attention bytes are at most: its cache is padded in the log.
      const double fastest = table_.best_bytes_per_s.value_or(0) * impossible_share;
      if (fastest > 0 && row.bytes_per_s.value_or(0) > fastest) row.bytes_per_s.reset();
    }
    std::erase_if(table_.rows, [](const OpWindow& row) { return row.runs == 0; });
    for (OpWindow& row : table_.rows) row.share = table_.total > 0 ? row.window / table_.total : 0;
    sort_rows(table_.rows.begin(), table_.rows.end(),
              [](const OpWindow& a, const OpWindow& b) { return a.window > b.window; });
  }

  WindowBound bound_of(const OpWindow& row) const {
    const bool knows = row.has_events && !row.is_partial;
    if (knows && row.hmx.any >= bound_by) return WindowBound::hmx;
    if (knows && row.converting >= bound_by) return WindowBound::conversion;
    const bool may_read = !knows || row.dma.any >= bound_share;
    if (row.dma_engine.value_or(0) >= bound_by || (may_read && is_read_fast(row))) {
      return WindowBound::ddr;
    }
    if (!knows) return WindowBound::unknown;
    if (row.without_event > dispatch_by) return WindowBound::dispatch;
    if (row.hvx.any >= bound_by) return WindowBound::hvx;
    // That the DDR is not the bound is known only where something says what it can do.
    const bool knows_ddr =
        !row.bytes_per_s || table_.best_bytes_per_s || table_.ddr_peak || row.dma_engine;
    return knows_ddr ? WindowBound::mixed : WindowBound::unknown;
  }

  // Bytes of attention are at most: with the padding of its cache they may be more than is
  // possible.
  // By the peak as the roofline has it, else by the fastest read of the run.
  bool is_read_fast(const OpWindow& row) const {
    const auto& most = table_.ddr_peak ? table_.ddr_peak : table_.best_bytes_per_s;
    if (!row.bytes_per_s || !most) return false;
    const double share = *row.bytes_per_s / *most;
    return share >= (table_.ddr_peak ? bound_share : bound_by) && share <= impossible_share;
  }

  struct Sums {
    double macs = 0, bytes = 0, cycles = 0, dma_cycles = 0;
    std::array<double, classes> work{}, covered{};
  };

  const Analysis& analysis_;
  const Profile& profile_;
  const MeasureColumn *windows_, *dma_cycles_;
  OpWindows table_;
  std::vector<std::uint32_t> row_of_;  // by op
  std::vector<Sums> sums_;
};

}  // namespace

const char* name_of(WindowBound bound) {
  constexpr const char* names[] = {"", "DDR", "HMX", "HVX", "dequantisation", "dispatch", "mixed"};
  return names[std::size_t(bound)];
}

OpWindows find_op_windows(const Analysis& analysis, const Peaks& peaks) {
  return WindowTable(analysis, peaks).make();
}

}  // namespace npuscope::analysis
