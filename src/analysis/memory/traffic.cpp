#include "npuscope/analysis/traffic.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "analysis/answers.hpp"
#include "analysis/units/unit_numbers.hpp"
#include "npuscope/analysis/bandwidth.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::analysis {

const char* name_of(Route route) {
  constexpr const char* names[] = {"DDR read", "DDR write", "VTCM read", "VTCM write", "multicast"};
  return names[std::size_t(route)];
}

std::optional<Route> route_of(NumberRole role) {
  switch (role) {
    case NumberRole::ddr_read: return Route::ddr_read;
    case NumberRole::ddr_write: return Route::ddr_write;
    case NumberRole::vtcm_read: return Route::vtcm_read;
    case NumberRole::vtcm_write: return Route::vtcm_write;
    case NumberRole::multicast_write: return Route::multicast;
    default: return std::nullopt;
  }
}

std::optional<Route> memory_route_of(NumberRole role) {
  return role == NumberRole::multicast_write ? std::nullopt : route_of(role);
}

const char* name_of(TrafficLevel level) {
  constexpr const char* names[] = {"", "spans", "ops", "sizes of transfers", "units", "the run"};
  return names[std::size_t(level)];
}

void add(std::optional<std::int64_t>& sum, std::int64_t bytes) {
  sum = saturating_add(sum.value_or(0), bytes);
}

namespace {

std::optional<std::int64_t> both(const RouteBytes& bytes, Route read, Route write) {
  auto sum = at(bytes, read);
  if (const auto written = at(bytes, write)) add(sum, *written);
  return sum;
}

// Measures are doubles; what is no number of bytes counts as none.
std::int64_t bytes_of(double value) {
  constexpr double max = 9e18;
  if (!(value > 0)) return 0;
  return value < max ? std::int64_t(std::llround(value)) : std::int64_t(max);
}

// What a kernel of Cloud AI 100 moves, as much as it puts out.
struct KernelMoves {
  bool ddr_read = false, ddr_write = false, multicast = false;
};

KernelMoves moves_of(std::string_view kernel, std::string_view memory) {
  const auto has = [&](std::string_view word) { return kernel.find(word) != kernel.npos; };
  KernelMoves moves;
  if (!kernel.starts_with("aic")) return moves;
  const bool to_vtcm = has("copytovtcm"), from_vtcm = has("copyfromvtcm"), ddr = has("copyddr");
  const bool in_ddr = memory == "DDR";
  moves.ddr_read = to_vtcm || ddr || (in_ddr && has("gather"));
  moves.ddr_write = from_vtcm || ddr || (in_ddr && has("scatter"));
  moves.multicast = has("multicast") && !kernel.ends_with("_in");  // its other side
  return moves;
}

}  // namespace

std::optional<std::int64_t> ddr_bytes(const RouteBytes& bytes) {
  return both(bytes, Route::ddr_read, Route::ddr_write);
}

std::optional<std::int64_t> vtcm_bytes(const RouteBytes& bytes) {
  return both(bytes, Route::vtcm_read, Route::vtcm_write);
}

std::vector<ConstantTraffic> constant_traffic(const Profile& profile) {
  std::vector<ConstantTraffic> units(profile.units.size());
  std::vector<bool> tells(profile.units.size(), false);
  for (const Measure& measure : profile.measures) {
    if (measure.subject != Measure::Subject::unit || measure.subject_id >= units.size()) continue;
    ConstantTraffic& unit = units[measure.subject_id];
    unit.unit = UnitId(measure.subject_id);
    switch (measure.meaning.role) {
      case NumberRole::ddr_read_constants:
        unit.constants = measure.value;
        tells[measure.subject_id] = true;
        break;
      case NumberRole::ddr_read: unit.ddr_read = measure.value; break;
      case NumberRole::ddr_write: unit.ddr_write = measure.value; break;
      case NumberRole::multicast_write: unit.multicast = measure.value; break;
      default: break;
    }
  }
  std::vector<ConstantTraffic> told;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (tells[i]) told.push_back(units[i]);
  }
  return told;
}

OpTraffic::OpTraffic(const Profile& profile) : profile_(profile) {
  take_columns();
  take_op_measures();
  take_sizes();
  take_told();
  sum_spans();
}

bool OpTraffic::any_of_ops() const {
  return std::any_of(sources_.begin(), sources_.end(),
                     [](const Source& source) { return source.total.of_ops.has_value(); });
}

bool OpTraffic::any() const {
  return std::any_of(sources_.begin(), sources_.end(),
                     [](const Source& source) { return source.total.best().has_value(); });
}

bool OpTraffic::carries(std::size_t row) const {
  const std::size_t op = index_of(profile_.spans.op[row]);
  if (op >= has_transfer_.size()) return false;
  return profile_.spans.kind[row] == (has_transfer_[op] ? SpanKind::transfer : SpanKind::op);
}

void OpTraffic::take_columns() {
  for (const MeasureColumn& column : profile_.spans.measures) {
    if (column.kind != MeasureKind::count || column.values.size() != profile_.spans.size()) {
      continue;
    }
    const auto route = route_of(column.meaning.role);
    if (!route) continue;
    Source& source = sources_[std::size_t(*route)];
    if (source.column != nullptr) continue;  // the first says it
    source.column = &column;
    source.total.level = TrafficLevel::spans;
    source.total.origin = column.origin;
    source.total.of_ops = 0;
  }
}

void OpTraffic::take_op_measures() {
  for (const Measure& measure : profile_.measures) {
    if (measure.subject != Measure::Subject::op || measure.kind != MeasureKind::count) continue;
    if (measure.subject_id >= profile_.ops.size()) continue;
    const auto route = route_of(measure.meaning.role);
    if (!route) continue;
    Source& source = sources_[std::size_t(*route)];
    if (source.column != nullptr) continue;  // the spans say it
    if (source.by_op.empty()) {
      source.by_op.assign(profile_.ops.size(), 0);
      source.total.level = TrafficLevel::ops;
      source.total.origin = measure.origin;
      source.total.of_ops = 0;
    }
    std::int64_t& bytes = source.by_op[measure.subject_id];
    bytes = saturating_add(bytes, bytes_of(measure.value));
    add(source.total.of_ops, bytes_of(measure.value));
  }
}

// A summary has no spans, and its ops' sizes are those of all their executions.
void OpTraffic::take_sizes() {
  const bool by_run = std::any_of(profile_.spans.op.begin(), profile_.spans.op.end(),
                                  [](OpId op) { return op != OpId::none; });
  std::unordered_map<std::uint64_t, KernelMoves> known;
  for (std::size_t op = 0; op < profile_.ops.size(); ++op) {
    const Op& from = profile_.ops[op];
    if (from.output.value <= 0) continue;
    const std::uint64_t key = std::uint64_t{index_of(from.kind)} << 32 | index_of(from.memory);
    const auto [place, is_new] = known.try_emplace(key);
    if (is_new) place->second = moves_of(profile_.text(from.kind), profile_.text(from.memory));
    const auto take = [&](Route route, bool moves) {
      Source& source = sources_[std::size_t(route)];
      const TrafficLevel level = source.total.level;
      if (!moves || (level != TrafficLevel::none && level != TrafficLevel::sizes)) return;
      std::vector<std::int64_t>& bytes = by_run ? source.by_run : source.by_op;
      if (bytes.empty()) bytes.assign(profile_.ops.size(), 0);
      bytes[op] = from.output.value;
      source.total.level = TrafficLevel::sizes;
      source.total.origin = Origin::derived;
      if (!source.total.of_ops) source.total.of_ops = 0;
      if (!by_run) add(source.total.of_ops, from.output.value);
    };
    take(Route::ddr_read, place->second.ddr_read);
    take(Route::ddr_write, place->second.ddr_write);
    take(Route::multicast, place->second.multicast);
  }
}

void OpTraffic::take_told() {
  const bool needed =
      std::any_of(profile_.measures.begin(), profile_.measures.end(),
                  [](const Measure& measure) { return measure.subject == Measure::Subject::unit; });
  const UnitsWithTraffic tell(profile_, needed);
  for (const auto subject : {Measure::Subject::unit, Measure::Subject::profile}) {
    const TrafficLevel level =
        subject == Measure::Subject::unit ? TrafficLevel::units : TrafficLevel::run;
    for (const Measure& measure : profile_.measures) {
      if (measure.subject != subject || measure.kind != MeasureKind::count) continue;
      const auto route = route_of(measure.meaning.role);
      if (!route) continue;
      if (level == TrafficLevel::units) {
        if (measure.subject_id >= profile_.units.size()) continue;
        const Unit& unit = profile_.units[measure.subject_id];
        const bool part = *route == Route::multicast
                              ? unit.engine != Engine::core
                              : tell.include(UnitId(measure.subject_id), *route);
        if (part) continue;
      }
      TrafficTotal& total = sources_[std::size_t(*route)].total;
      if (total.told_by != TrafficLevel::none && total.told_by != level) {
        if (level == TrafficLevel::units) continue;
        total.told.reset();  // the whole run's own number
      }
      total.told_by = level;
      total.told_origin = measure.origin;
      add(total.told, bytes_of(measure.value));
    }
  }
}

void OpTraffic::find_carriers() {
  const std::size_t rows = profile_.spans.size();
  has_transfer_.assign(profile_.ops.size(), false);
  teams_.assign(profile_.ops.size(), {});
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t op = index_of(profile_.spans.op[row]);
    if (profile_.spans.kind[row] == SpanKind::transfer && op < has_transfer_.size()) {
      has_transfer_[op] = true;
    }
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> runs;  // op and unit
  for (std::size_t row = 0; row < rows; ++row) {
    if (!carries(row)) continue;
    const std::uint32_t op = index_of(profile_.spans.op[row]);
    const bool moves = std::any_of(sources_.begin(), sources_.end(), [&](const Source& source) {
      return !source.by_run.empty() && source.by_run[op] > 0;
    });
    if (moves) runs.emplace_back(op, index_of(profile_.spans.unit[row]));
  }
  std::sort(runs.begin(), runs.end());
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  for (const auto& [op, unit] : runs) {
    if (teams_[op].units == 0) teams_[op].first = UnitId(unit);
    teams_[op].units += 1;
  }
}

std::int64_t OpTraffic::share_of(std::int64_t bytes, std::size_t row) const {
  const Team& team = teams_[index_of(profile_.spans.op[row])];
  if (team.units <= 1) return bytes;
  const bool first = profile_.spans.unit[row] == team.first;
  return bytes / team.units + (first ? bytes % team.units : 0);
}

void OpTraffic::sum_spans() {
  const std::size_t rows = profile_.spans.size();
  const bool sizes = std::any_of(sources_.begin(), sources_.end(),
                                 [](const Source& source) { return !source.by_run.empty(); });
  if (sizes) find_carriers();
  for (std::size_t route = 0; route < route_count; ++route) {
    if (!of_spans_known(Route(route))) continue;
    std::int64_t sum = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      sum = saturating_add(sum, of_span(Route(route), row));
    }
    sources_[route].total.of_ops = sum;
  }
}

namespace {

// bytes x part / whole, rounded down; part <= whole.
std::int64_t share_of(std::int64_t bytes, std::int64_t part, std::int64_t whole) {
  __extension__ typedef __int128 Wide;
  return std::int64_t(Wide(bytes) * part / whole);
}

// One route's buckets. What covers whole buckets adds to differences between neighbours, so that a
// span costs the same however long it is.
class Buckets {
 public:
  Buckets(Interval timeline, std::int64_t width, std::size_t count)
      : timeline_(timeline), width_(width), sums_(count, 0), steps_(count + 1, 0) {}

  void spread(Interval span, std::int64_t bytes) {
    const std::size_t first = bucket_of(span.begin);
    const std::int64_t duration = length_of(span);
    const std::size_t last = duration > 0 ? bucket_of(span.end - 1) : first;
    if (first == last) {
      put(first, bytes);
      return;
    }
    const std::int64_t head = saturating_subtract(end_of(first), span.begin);
    const std::int64_t in_first = share_of(bytes, head, duration);
    const std::int64_t whole = share_of(bytes, width_, duration);
    const auto between = std::int64_t(last - first - 1);
    const std::int64_t tail = duration - head - between * width_;
    const std::int64_t in_last = share_of(bytes, tail, duration);
    // Less than one byte for each bucket is left: one each, from the first on.
    std::int64_t left = bytes - in_first - in_last - between * whole;
    const std::int64_t for_first = std::min<std::int64_t>(left, 1);
    left -= for_first;
    const std::int64_t for_whole = std::min(left, between);
    step(first + 1, whole);
    step(last, -whole);
    step(first + 1, 1);
    step(first + 1 + std::size_t(for_whole), -1);
    put(first, in_first + for_first);
    put(last, in_last + left - for_whole);
  }

  std::vector<std::int64_t> finish() {
    std::int64_t level = 0;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      level = saturating_add(level, steps_[i]);
      put(i, level);
    }
    return std::move(sums_);
  }

 private:
  void put(std::size_t bucket, std::int64_t bytes) {
    sums_[bucket] = saturating_add(sums_[bucket], bytes);
  }
  void step(std::size_t bucket, std::int64_t bytes) {
    steps_[bucket] = saturating_add(steps_[bucket], bytes);
  }
  std::size_t bucket_of(std::int64_t time) const {
    const std::int64_t after = saturating_subtract(time, timeline_.begin);
    const auto bucket = std::size_t(std::max<std::int64_t>(0, after) / width_);
    return std::min(bucket, sums_.size() - 1);
  }
  std::int64_t end_of(std::size_t bucket) const {
    return saturating_add(timeline_.begin, std::int64_t(bucket + 1) * width_);
  }

  Interval timeline_;
  std::int64_t width_;
  std::vector<std::int64_t> sums_, steps_;
};

}  // namespace

std::size_t BandwidthSeries::buckets() const {
  for (const auto& of_route : bytes) {
    if (!of_route.empty()) return of_route.size();
  }
  return 0;
}

BandwidthSeries find_bandwidth(const Analysis& analysis, std::size_t buckets) {
  const Profile& profile = analysis.profile();
  const OpTraffic& traffic = analysis.traffic();
  BandwidthSeries series;
  series.timeline = analysis.timeline_extent();
  const std::int64_t length = length_of(series.timeline);
  if (length <= 0) return series;
  const auto wanted = std::int64_t(std::max<std::size_t>(1, buckets));
  series.width = length / wanted + (length % wanted != 0);
  const auto count = std::size_t(length / series.width + (length % series.width != 0));
  const Spans& spans = profile.spans;
  for (std::size_t route = 0; route < route_count; ++route) {
    if (!traffic.of_spans_known(Route(route))) continue;
    Buckets of_route(series.timeline, series.width, count);
    bool any = false;
    for (std::size_t row = 0; row < spans.size(); ++row) {
      const std::int64_t bytes = traffic.of_span(Route(route), row);
      if (bytes == 0) continue;
      any = true;
      const Interval span = interval_of(spans, row);
      const Interval inside{std::clamp(span.begin, series.timeline.begin, series.timeline.end),
                            std::clamp(span.end, series.timeline.begin, series.timeline.end)};
      of_route.spread(inside, bytes);
    }
    if (any) series.bytes[route] = of_route.finish();
  }
  return series;
}

std::vector<TransferSize> find_transfers(const Analysis& analysis) {
  const Profile& profile = analysis.profile();
  const OpTraffic& traffic = analysis.traffic();
  constexpr std::int64_t kib = 1024, mib = 1024 * kib;
  std::vector<TransferSize> sizes;
  std::int64_t min = 1;
  for (const std::int64_t below : {small_transfer, 64 * kib, mib, 16 * mib, std::int64_t{0}}) {
    sizes.push_back({min, below, 0, 0, 0});
    min = below;
  }
  const Spans& spans = profile.spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (role_of(spans.kind[row]) != Role::work) continue;
    std::int64_t bytes = 0;
    for (const Route route : {Route::ddr_read, Route::ddr_write}) {
      bytes = saturating_add(bytes, traffic.of_span(route, row));
    }
    if (bytes == 0 || domain_of(profile, row) != Domain::movement) continue;
    const auto size = std::find_if(sizes.begin(), sizes.end(), [&](const TransferSize& it) {
      return it.below == 0 || bytes < it.below;
    });
    size->transfers += 1;
    size->bytes = saturating_add(size->bytes, bytes);
    size->ticks = saturating_add(size->ticks, length_of(interval_of(spans, row)));
  }
  std::erase_if(sizes, [](const TransferSize& size) { return size.transfers == 0; });
  return sizes;
}

}  // namespace npuscope::analysis
