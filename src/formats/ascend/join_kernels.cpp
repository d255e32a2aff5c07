#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "formats/ascend/profile.hpp"
#include "ingest/units.hpp"
#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/spans_by_unit.hpp"
#include "profile/shape_texts.hpp"

namespace npuscope::ascend {
namespace {

constexpr NamedNumber wait_before{"wait before start", MeasureKind::work, NumberRole::none};
constexpr NamedNumber block_count = NamedNumber{"blocks", NumberQuantity::count}.not_additive();

constexpr std::string_view npu_process = "Ascend Hardware";

bool is_npu_work(SpanKind kind) {
  return kind == SpanKind::kernel || kind == SpanKind::communication;
}

// As Huawei's pages call the kinds of cores.
std::string core_name(std::string_view core) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> names{
      {{"AI_CORE", "AI Core"},
       {"AI_VECTOR_CORE", "AI Vector Core"},
       {"MIX_AIC", "AI Core with AI Vector Core (MIX_AIC)"},
       {"MIX_AIV", "AI Vector Core with AI Core (MIX_AIV)"},
       {"AI_CPU", "AI CPU"},
       {"DSA_SQE", "DSA"},
       {"DSA", "DSA"}}};
  for (const auto& [word, name] : names) {
    if (core == word) return std::string(name);
  }
  return std::string(core);
}

class KernelJoiner {
 public:
  KernelJoiner(const KernelTable& table, const std::vector<std::uint32_t>& rows, Profile& profile)
      : table_(table), rows_(rows), profile_(profile), spans_(profile.spans) {}

  void join() {
    for (std::size_t i = 0; i < table_.kernels.size(); ++i) {
      if (rows_[i] == no_row) ++missing_;
    }
    describe_ops();
    move_to_cores();
    add_columns();
    add_core_numbers();
    if (missing_ == 0) return;
    profile_.notes.push_back({Severity::warning, table_.file, 0,
                              "kernels of the table that the trace does not have; left out",
                              missing_});
  }

 private:
  StringId text(StringId id) { return profile_.strings.intern(table_.strings[id]); }

  // Of an op whose kernels differ in something, that is not known.
  void describe_ops() {
    std::unordered_map<std::uint32_t, std::uint32_t> first;  // kernel by op
    for (std::uint32_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i] == no_row) continue;
      const std::uint32_t op = index_of(spans_.op[rows_[i]]);
      if (op >= profile_.ops.size()) continue;
      const Kernel& kernel = table_.kernels[i];
      const auto [found, is_new] = first.try_emplace(op, i);
      if (is_new) {
        describe(kernel, profile_.ops[op]);
      } else if (table_.kernels[found->second].outputs != kernel.outputs ||
                 table_.kernels[found->second].inputs != kernel.inputs) {
        Op& shared = profile_.ops[op];
        shared.shape = shared.operands = StringId::empty;
        shared.extents = ShapeId::none;
      }
    }
  }

  void describe(const Kernel& kernel, Op& op) {
    if (kernel.type != StringId::empty) op.kind = op.node_kind = text(kernel.type);
    op.engine = kernel.is_collective ? Engine::communication : Engine::compute;
    if (kernel.is_collective) return;
    const std::string_view outputs = table_.strings[kernel.outputs];
    const std::string_view first = outputs.substr(0, outputs.find(';'));
    op.shape = profile_.strings.intern(first);
    op.extents = shape_in(first, profile_.shapes);
    op.types = profile_.strings.intern(distinct_types(table_.strings[kernel.input_types]));
    std::string operands;
    const auto add = [&](std::string_view side, std::string_view shapes, std::string_view types) {
      while (!shapes.empty()) {
        operands += fmt::format("{}{} {} [{}]", operands.empty() ? "" : "\n", side, taken(types),
                                taken(shapes));
      }
    };
    add("in", table_.strings[kernel.inputs], table_.strings[kernel.input_types]);
    add("out", outputs, {});
    op.operands = profile_.strings.intern(operands);
  }

  static std::string_view taken(std::string_view& rest) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    const std::string_view field = rest.substr(0, end);
    rest.remove_prefix(std::min(rest.size(), end + 1));
    return field;
  }

  static std::string distinct_types(std::string_view types) {
    std::vector<std::string_view> once;
    while (!types.empty()) {
      const std::string_view type = taken(types);
      if (!type.empty() && std::ranges::find(once, type) == once.end()) once.push_back(type);
    }
    return fmt::format("{}", fmt::join(once, ", "));
  }

  // Of streams that have nothing but kernels, as where a table is all there is. One that waits or
  // copies too stays as it is: its waits are of its own order.
  void move_to_cores() {
    std::vector<std::uint32_t> kernels;
    std::vector<bool> is_stream(profile_.units.size(), false);
    for (std::uint32_t i = 0; i < rows_.size(); ++i) {
      const bool moves = rows_[i] != no_row && !table_.kernels[i].is_collective &&
                         table_.kernels[i].core != StringId::empty &&
                         spans_.kind[rows_[i]] == SpanKind::kernel;
      if (!moves) continue;
      kernels.push_back(i);
      is_stream[index_of(spans_.unit[rows_[i]])] = true;
    }
    for (std::uint32_t row = 0; row < spans_.size(); ++row) {
      const SpanKind kind = spans_.kind[row];
      const bool stays = kind == SpanKind::copy || kind == SpanKind::wait;
      if (stays && is_stream[index_of(spans_.unit[row])]) return;
    }
    for (const std::uint32_t i : kernels) {
      spans_.unit[rows_[i]] = core_of(table_.kernels[i], spans_.unit[rows_[i]]);
    }
  }

  UnitId core_of(const Kernel& kernel, UnitId stream) {
    const Unit from = profile_.units[index_of(stream)];
    const auto [found, is_new] = cores_.try_emplace({index_of(stream), kernel.core}, UnitId::none);
    if (!is_new) return found->second;
    Unit unit;
    unit.device = from.device;
    unit.engine = Engine::compute;
    const std::string name = core_name(table_.strings[kernel.core]);
    unit.name = profile_.strings.intern(
        streams_of(kernel) > 1 ? fmt::format("{}, {}", name, profile_.text(from.name)) : name);
    unit.parent = from.parent;
    unit.process_id = from.process_id;
    return found->second = add_unit(profile_, unit);
  }

  // Of its device.
  std::size_t streams_of(const Kernel& of) {
    if (streams_.empty()) {
      for (const Kernel& kernel : table_.kernels) {
        streams_[{kernel.core, kernel.device}].insert(kernel.stream);
      }
    }
    return streams_[{of.core, of.device}].size();
  }

  template <class ValueOf>
  void add_column(const NamedNumber& number, Origin origin, const ValueOf& value_of) {
    MeasureColumn column = profile_.column_of(number, origin, profile_.base_clock);
    column.values.assign(spans_.size(), MeasureColumn::missing);
    bool any = false;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::int64_t value = value_of(i);
      if (rows_[i] == no_row || value == MeasureColumn::missing) continue;
      column.values[rows_[i]] = value;
      any |= value != 0;
    }
    if (any) spans_.measures.push_back(std::move(column));
  }

  void add_columns() {
    const auto stated = [](std::int64_t value) {
      return value == Kernel::none ? MeasureColumn::missing : value;
    };
    add_column(wait_before, Origin::measured,
               [&](std::size_t i) { return stated(table_.kernels[i].wait_ns); });
    add_column(block_count, Origin::measured,
               [&](std::size_t i) { return stated(table_.kernels[i].blocks); });
    for (const KernelNumber& number : table_.numbers) {
      if (number.is == KernelNumber::Is::other) {
        add_rates(number);
        continue;
      }
      const NamedNumber named = number.is == KernelNumber::Is::time
                                    ? NamedNumber{number.name, MeasureKind::work}
                                    : NamedNumber{number.name, NumberQuantity::count};
      add_column(named, Origin::counter, [&](std::size_t i) { return number.values[i]; });
    }
  }

  // Shares and rates are no whole numbers; zeros are of the kind of core that a kernel does not
  // use.
  void add_rates(const KernelNumber& number) {
    const bool is_rate = number.name.find("/s)") != number.name.npos;
    const NamedNumber named{number.name, is_rate ? NumberQuantity::rate : NumberQuantity::share};
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double value = number.rates[i];
      if (rows_[i] == no_row || !std::isfinite(value) || value == 0) continue;
      profile_.add_measure(Measure::Subject::span, rows_[i], named, Origin::counter, {}, value);
    }
  }

  // What each kind of core worked, and its clock: the profiler sums cycles over blocks and divides
  // by them for the time, unless there are more blocks than cores.
  void add_core_numbers() {
    std::map<std::string, double> times;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Kernel& kernel = table_.kernels[i];
      if (rows_[i] == no_row || kernel.is_collective || kernel.core == StringId::empty) continue;
      times[core_name(table_.strings[kernel.core])] += double(kernel.duration_ns);
    }
    const auto add = [&](const NamedNumber& number, Origin origin, double value) {
      profile_.add_measure(Measure::Subject::profile, 0, number, origin, profile_.base_clock,
                           value);
    };
    for (const auto& [core, time] : times) {
      add({fmt::format("kernels on {}", core), MeasureKind::work}, Origin::measured, time);
    }
    for (const auto& [core, name] :
         {std::pair{"AI_CORE", "AI Core"}, std::pair{"AI_VECTOR_CORE", "AI Vector Core"}}) {
      if (const double hertz = clock_of(core, name); hertz > 0) {
        add({fmt::format("{} clock (Hz)", name), NumberQuantity::hertz}, Origin::derived, hertz);
      }
    }
  }

  double clock_of(std::string_view core, std::string_view name) const {
    const auto find = [&](const std::string& of) {
      return std::ranges::find(table_.numbers, of, &KernelNumber::name);
    };
    const auto cycles = find(fmt::format("{} cycles, over blocks", name));
    const auto time = find(fmt::format("{} time", name));
    if (cycles == table_.numbers.end() || time == table_.numbers.end()) return 0;
    std::vector<double> hertz;
    for (std::size_t i = 0; i < table_.kernels.size(); ++i) {
      const Kernel& kernel = table_.kernels[i];
      const bool counts = table_.strings[kernel.core] == core && kernel.blocks > 0 &&
                          cycles->values[i] > 0 && time->values[i] > 0;
      if (!counts) continue;
      hertz.push_back(double(cycles->values[i]) * 1e9 / double(time->values[i]) /
                      double(kernel.blocks));
    }
    if (hertz.empty()) return 0;
    const auto middle = hertz.begin() + std::ptrdiff_t(hertz.size() / 2);
    std::ranges::nth_element(hertz, middle);
    return *middle;
  }

  const KernelTable& table_;
  const std::vector<std::uint32_t>& rows_;
  Profile& profile_;
  Spans& spans_;
  std::map<std::pair<std::uint32_t, StringId>, UnitId> cores_;  // by stream and kind of core
  std::map<std::pair<StringId, std::int64_t>, std::set<std::int64_t>> streams_;  // by core, device
  std::uint64_t missing_ = 0;
};

// Of each unit whether it is a track of the NPU, or below one.
std::vector<bool> npu_units(const Profile& profile) {
  std::vector<bool> are(profile.units.size(), false);
  for (std::size_t i = 0; i < are.size(); ++i) {
    UnitId unit = UnitId(std::uint32_t(i));
    for (int depth = 0; depth < 4 && index_of(unit) < are.size(); ++depth) {
      are[i] = are[i] || profile.text(profile.units[index_of(unit)].name).starts_with(npu_process);
      unit = profile.units[index_of(unit)].parent;
    }
  }
  return are;
}

}  // namespace

bool is_trace_view(const Profile& profile) {
  const std::vector<bool> are = npu_units(profile);
  return std::ranges::find(are, true) != are.end();
}

std::vector<std::int64_t> kernel_starts(const Profile& profile) {
  const std::vector<bool> are = npu_units(profile);
  std::vector<std::int64_t> starts;
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    const bool counts =
        profile.spans.kind[row] == SpanKind::kernel && are[index_of(profile.spans.unit[row])];
    if (counts) starts.push_back(profile.spans.start[row]);
  }
  return starts;
}

std::vector<std::int64_t> kernel_starts(const KernelTable& table) {
  std::vector<std::int64_t> starts;
  for (const Kernel& kernel : table.kernels) {
    if (!kernel.is_collective) starts.push_back(kernel.start_ns);
  }
  return starts;
}

// The two round times differently, and may see a collective's begin a few ns apart.
std::vector<std::uint32_t> rows_of_kernels(const KernelTable& table, const Profile& profile) {
  constexpr std::int64_t apart_ns = 10;
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> by_name;
  const Spans& spans = profile.spans;
  for (std::uint32_t row = 0; row < spans.size(); ++row) {
    const std::size_t op = index_of(spans.op[row]);
    if (!is_npu_work(spans.kind[row]) || op >= profile.ops.size()) continue;
    by_name[profile.text(profile.ops[op].name)].push_back(row);
  }
  for (auto& [name, rows] : by_name) {
    std::ranges::sort(rows, {}, [&](std::uint32_t row) { return spans.start[row]; });
  }
  std::vector<std::uint32_t> found;
  for (const Kernel& kernel : table.kernels) {
    std::uint32_t& row = found.emplace_back(no_row);
    const auto named = by_name.find(table.strings[kernel.name]);
    if (named == by_name.end()) continue;
    const auto at = std::ranges::lower_bound(named->second, kernel.start_ns - apart_ns, {},
                                             [&](std::uint32_t each) { return spans.start[each]; });
    if (at != named->second.end() && spans.start[*at] <= kernel.start_ns + apart_ns) row = *at;
  }
  return found;
}

void join_kernels(const KernelTable& table, const std::vector<std::uint32_t>& rows,
                  Profile& profile) {
  KernelJoiner(table, rows, profile).join();
}

}  // namespace npuscope::ascend
