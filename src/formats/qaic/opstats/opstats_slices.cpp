#include "formats/qaic/opstats/opstats_slices.hpp"

#include <cmath>
#include <cstdlib>
#include <numeric>

#include "base/parallel.hpp"
#include "formats/qaic/limits.hpp"
#include "formats/qaic/opstats/opstats_reader.hpp"
#include "profile/kept_arguments.hpp"

namespace npuscope::qaic {
namespace {

using Role = ArgumentRole;

constexpr double ticks_per_microsecond = 19.2;

// A row's numbers, parsed once.
struct RowNumbers {
  std::optional<std::int64_t> pcycles;
  std::optional<std::int64_t> ucycles;
  std::optional<std::int64_t> output_bytes;
};

class SliceReader {
 public:
  SliceReader(const OpstatsTrace& trace, const KnownNames& names, const OpstatsOps& ops,
              Spans& spans)
      : trace_(trace), names_(names), ops_(ops), spans_(spans) {}

  void read(KeptArguments::Part& part) {
    for (std::size_t row = part.rows().first; row < part.rows().last; ++row) read(row, part);
  }

  Tally durations, ratios;

 private:
  void read(std::size_t row, KeptArguments::Part& part) {
    const OpstatsTrack& track = trace_.track_of(row);
    const ArgumentValues values(trace_.arguments(), row, trace_.strings);
    if (trace_.is_of_device(track, values.shape())) {
      read_device_slice(row, track, values, part);
    } else {
      read_host_slice(row, values, part);
    }
  }

  void read_host_slice(std::size_t row, const ArgumentValues& values, KeptArguments::Part& part) {
    spans_.processor_cycles[row] = -1;
    const std::int64_t start = ticks_of(spans_.start[row]);
    spans_.duration[row] = ticks_of(spans_.start[row] + spans_.duration[row]) - start;
    spans_.start[row] = trace_.origin + start;
    places_.resize(trace_.arguments().shapes[values.shape()].size());
    std::iota(places_.begin(), places_.end(), 0u);
    part.keep(row, {row, values.shape()}, places_);
  }

  void read_device_slice(std::size_t row, const OpstatsTrack& track, const ArgumentValues& values,
                         KeptArguments::Part& part) {
    const ArgumentPlan& plan = trace_.plans[values.shape()];
    const auto integer = [&](Role role) { return values.integer(plan.place[std::size_t(role)]); };
    numbers_ = {integer(Role::pcycles), integer(Role::ucycles), integer(Role::output_size)};
    const auto cycles = numbers_.pcycles;
    const bool is_usable = cycles && *cycles >= 0 && *cycles < std::int64_t(max_ticks);
    spans_.processor_cycles[row] = is_usable ? *cycles : -1;
    restores_ = trace_.is_npuscope && track.threads == 1;
    places_.clear();
    const KnownName& name = name_of(row);
    for (std::uint32_t place = 0; place < plan.roles.size(); ++place) {
      if (!is_told(row, place, values, name)) places_.push_back(place);
    }
    part.keep(row, {row, values.shape()}, places_);
    place_in_time(row, values);
  }

  const KnownName& name_of(std::size_t row) {
    const StringId id = trace_.events.slices.name[row];
    if (last_known_ == nullptr || id != last_name_) {
      last_known_ = &names_.at(std::uint32_t(id));
      last_name_ = id;
    }
    return *last_known_;
  }

  // From where the slice begins to where it ends, each to the tick. Before place_in_time().
  std::int64_t drawn_ticks(std::size_t row) const {
    const std::int64_t start = spans_.start[row];
    return ticks_of(start + spans_.duration[row]) - ticks_of(start);
  }

  // Whether the tables hold what the argument says.
  bool is_told(std::size_t row, std::uint32_t place, const ArgumentValues& values,
               const KnownName& name) {
    const ArgumentPlan& plan = trace_.plans[values.shape()];
    const OpId op = spans_.op[row];
    const Role role = plan.roles[place];
    switch (role) {
      case Role::other:
      case Role::port_description:
      case Role::transaction: return false;
      case Role::number: return op != OpId::none && ops_.has_number(op);
      case Role::op_name: return op != OpId::none && values.has_text(place);
      case Role::op_kind: {
        const auto kind = values.text_id(place);
        if (!kind || op == OpId::none) return false;
        if (*kind == name.kernel) return true;
        const std::string_view told = trace_.strings[*kind];
        return told.substr(0, told.find_last_not_of(' ') + 1) == trace_.strings[name.kernel];
      }
      case Role::pcycles: return spans_.processor_cycles[row] >= 0;
      case Role::ucycles: {
        const auto recorded = numbers_.ucycles;
        if (!recorded || *recorded < 0 || *recorded > std::int64_t(max_ticks)) return false;
        const bool is_wait = name.kind == SpanKind::sync && spans_.duration[row] == 0;
        const bool drawn = std::abs(*recorded - ticks_of(spans_.duration[row])) <= 1;
        if (restores_ || is_wait) return true;
        if (trace_.is_npuscope) return *recorded == drawn_ticks(row);
        durations.add(drawn);
        return drawn;
      }
      case Role::wait_microseconds: return values.number(place).has_value();
      case Role::inference:
      case Role::core: return values.integer(place).has_value();
      default: break;
    }
    if (is_of_op(role)) {
      return op != OpId::none && ops_.agrees(op, row, values.row(), place, places_in_shape_);
    }
    return is_ratio_of_row(role, values.number(place));
  }

  // Printed with six digits after the point.
  bool is_ratio_of_row(Role role, std::optional<double> told) {
    const auto& [pcycles, ucycles, size] = numbers_;
    double expected = -1;
    if (role == Role::frequency && pcycles && ucycles && *ucycles > 0) {
      expected = double(*pcycles) / double(*ucycles) * ticks_per_microsecond;
    } else if (role == Role::pcycles_per_kilobyte && pcycles && size && *size > 0) {
      expected = double(*pcycles) / (double(*size) / double(bytes_per_kilobyte));
    } else if (role == Role::ucycles_per_kilobyte && ucycles && size && *size > 0) {
      expected = double(*ucycles) / (double(*size) / double(bytes_per_kilobyte));
    }
    if (!told || expected < 0) return false;
    const bool holds = std::abs(*told - expected) <= 1e-6 + expected * 1e-6;
    ratios.add(holds);
    return holds;
  }

  // Durations are the ticks that were recorded. Where a slice is not as long: on the track of one
  // thread npuscope draws the end of what it had to shorten; on that of several it draws how long
  // the group was at it, and the ticks are its slowest thread's; others draw what the thread did,
  // while the ticks may include a transfer that ends later.
  void place_in_time(std::size_t row, const ArgumentValues& values) {
    const std::int64_t start = spans_.start[row];
    const std::int64_t drawn = ticks_of(spans_.duration[row]);
    std::int64_t ticks = drawn;
    std::int64_t begin = ticks_of(start);
    auto recorded = numbers_.ucycles;
    if (recorded && (*recorded < 0 || *recorded > std::int64_t(max_ticks))) recorded.reset();
    if (spans_.kind[row] == SpanKind::sync && spans_.duration[row] == 0) {
      const ArgumentPlan& plan = trace_.plans[values.shape()];
      const auto wait = values.number(plan.place[std::size_t(Role::wait_microseconds)]);
      const bool usable = wait && *wait >= 0 && *wait * ticks_per_microsecond < double(max_ticks);
      if (recorded || usable)
        ticks = recorded ? *recorded : std::llrint(*wait * ticks_per_microsecond);
    } else if (trace_.is_npuscope && !restores_) {
      ticks = drawn_ticks(row);
    } else if (recorded && std::abs(*recorded - drawn) <= 1) {
      ticks = *recorded;
    } else if (recorded && restores_) {
      ticks = *recorded;
      begin = ticks_of(start + spans_.duration[row]) - ticks;
    }
    spans_.start[row] = trace_.origin + begin;
    spans_.duration[row] = ticks;
  }

  const OpstatsTrace& trace_;
  const KnownNames& names_;
  const OpstatsOps& ops_;
  Spans& spans_;
  OpstatsOps::PlacesInShape places_in_shape_;
  std::vector<std::uint32_t> places_;  // of a row's arguments that stay
  // Of the row at hand.
  RowNumbers numbers_;
  bool restores_ = false;  // its ticks are its length, although it is drawn shorter
  StringId last_name_{};
  const KnownName* last_known_ = nullptr;
};

}  // namespace

SliceRest read_opstats_slices(const OpstatsTrace& trace, const KnownNames& names,
                              const OpstatsOps& ops, Spans& spans) {
  KeptArguments kept(trace.arguments(), spans.size());
  std::vector<SliceReader> readers(kept.parts(), SliceReader(trace, names, ops, spans));
  parallel_for(kept.parts(), [&](std::size_t part) { readers[part].read(kept.part(part)); });
  SliceRest rest;
  for (const SliceReader& reader : readers) {
    rest.durations.add(reader.durations);
    rest.ratios.add(reader.ratios);
  }
  rest.arguments = kept.finish();
  return rest;
}

}  // namespace npuscope::qaic
