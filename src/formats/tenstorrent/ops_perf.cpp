#include "formats/tenstorrent/ops_perf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/text.hpp"
#include "base/try.hpp"
#include "formats/tenstorrent/ops_rows.hpp"
#include "profile/shape_texts.hpp"
#include "profile/shared_numbers.hpp"

namespace npuscope::tenstorrent {
namespace {

constexpr NamedNumber kernel_time{"kernel time", MeasureKind::work};
constexpr NamedNumber gap_before{"time of the host before", MeasureKind::work};
constexpr NamedNumber ideal_time{"ideal time (tt-metal)", MeasureKind::work};
constexpr NamedNumber compute_time{"ideal time of compute (tt-metal)", MeasureKind::work};
constexpr NamedNumber bandwidth_time{"ideal time of bandwidth (tt-metal)", MeasureKind::work};
constexpr NamedNumber host_time{"time on the host", MeasureKind::work};
constexpr NamedNumber fpu_use{"FPU use, percent", NumberQuantity::share};
constexpr NamedNumber dram_use{"DRAM bandwidth, percent of peak", NumberQuantity::share};
constexpr NamedNumber noc_use{"NOC use, percent", NumberQuantity::share};
constexpr NamedNumber core_count = NamedNumber{"cores", NumberQuantity::count}.not_additive();
constexpr NamedNumber macs{"MACs", NumberQuantity::macs};

// Names of ops that exchange data between devices.
bool is_collective(std::string_view code) {
  constexpr std::string_view words[] = {"AllGather", "ReduceScatter", "AllReduce",
                                        "AllToAll",  "AllBroadcast",  "PointToPoint",
                                        "SendAsync", "RecvAsync",     "MeshPartition"};
  return std::ranges::any_of(words, [&](auto word) { return code.find(word) != code.npos; });
}

bool is_product(std::string_view code) {
  return code.find("Matmul") != code.npos || code.starts_with("Conv2d") ||
         code.find("Linear") != code.npos;
}

// Reads all of its inputs and writes all of its output once; an embedding or a slice does not.
bool reads_all(std::string_view code) {
  constexpr std::string_view words[] = {"Matmul", "Conv2d",  "Linear", "Binary",  "Unary",
                                        "Norm",   "Softmax", "Reduce", "Typecast"};
  return std::ranges::any_of(words, [&](auto word) { return code.find(word) != code.npos; });
}

// Rows of the output by the weights' [.., depth, columns].
std::optional<double> macs_of(std::string_view code, const OpsRow& row) {
  if (!is_product(code) || row.inputs.size() < 2 || row.outputs.empty()) return std::nullopt;
  const auto& weights = row.inputs[1].extents;
  const auto& output = row.outputs[0].extents;
  if (output[3] != weights[3]) return std::nullopt;
  return double(output[0]) * double(output[1]) * double(output[2]) * double(output[3]) *
         double(weights[2]);
}

class OpsProfile {
 public:
  OpsProfile(const OpsFile& file, CountedNotes& losses) : file_(file), losses_(losses) {}

  Profile make() {
    profile_.add_clock("nanoseconds", ClockKind::wall, Hertz{1e9});
    profile_.base_clock = ClockId(0);
    number_inferences();
    measure_clocks();
    wait_ = OpId(profile_.ops.size());
    profile_.ops.push_back({.name = intern("wait for the host")});
    for (std::size_t i = 0; i < file_.rows.size(); ++i) add(i);
    add_columns();
    describe();
    return std::move(profile_);
  }

 private:
  struct Device {
    UnitId unit = UnitId::none;
    std::int64_t first_cycle = 0;
    double ns_per_cycle = 0;
    double cycles = 0, ns = 0;  // of all ops
    double min_rate = 0, max_rate = 0;
    std::uint32_t inference = 0, position = 0;  // of the next op, lost ones among them
    std::uint32_t before = 0;                   // the same before the first inference
    bool is_known = false;
    std::optional<std::int64_t> end;  // of its last op
  };
  struct Identity {
    std::uint32_t position;
    StringId code;
    bool operator<(const Identity& other) const {
      return std::tie(position, code) < std::tie(other.position, other.code);
    }
  };

  StringId intern(std::string_view text) { return profile_.strings.intern(text); }

  // A signpost that is called like one before begins the next inference, as does another replay.
  void number_inferences() {
    instance_of_.resize(file_.rows.size(), 0);
    StringId first_signpost{};
    std::uint32_t signposts = 0;
    for (const OpsRow& row : file_.rows) {
      if (row.is != OpsRow::Is::signpost) continue;
      if (signposts == 0) first_signpost = row.code;
      signposts += row.code == first_signpost;
    }
    std::map<StringId, std::uint32_t> replays;
    std::uint32_t instance = 0;
    bool any = false;
    for (std::size_t i = 0; i < file_.rows.size(); ++i) {
      const OpsRow& row = file_.rows[i];
      if (signposts > 1) {
        if (row.is == OpsRow::Is::signpost && row.code == first_signpost) {
          instance += any;
          any = true;
        } else if (!any) {
          before_ = i + 1;
        }
      } else if (row.replay != StringId::empty) {
        instance = replays.try_emplace(row.replay, std::uint32_t(replays.size())).first->second;
      }
      instance_of_[i] = instance;
      inferences_ = std::max(inferences_, instance + 1);
    }
    has_inferences_ = signposts > 1 || replays.size() > 1;
    numbered_by_ = signposts > 1 ? fmt::format("signpost '{}'", file_.strings[first_signpost])
                                 : "replay of a trace";
  }

  // Cycles by the nanoseconds that the file has of the same time: 1.35 GHz.
  void measure_clocks() {
    for (const OpsRow& row : file_.rows) {
      if (row.is != OpsRow::Is::device || !row.has_times()) continue;
      const double cycles = double(*row.end_cycle) - double(*row.start_cycle);
      Device& device = devices_[row.device];
      if (!device.is_known || *row.start_cycle < device.first_cycle) {
        device.first_cycle = *row.start_cycle;
      }
      device.is_known = true;
      if (!(cycles > 0) || *row.firmware_ns <= 0) continue;
      device.cycles += cycles;
      device.ns += double(*row.firmware_ns);
      constexpr double long_enough = 1e4;  // for whole nanoseconds to tell a rate
      if (double(*row.firmware_ns) < long_enough) continue;
      const double rate = cycles / double(*row.firmware_ns);
      device.min_rate = device.min_rate > 0 ? std::min(device.min_rate, rate) : rate;
      device.max_rate = std::max(device.max_rate, rate);
    }
    for (auto& [number, device] : devices_) {
      if (device.cycles > 0) device.ns_per_cycle = device.ns / device.cycles;
      constexpr double max_spread = 0.01;
      if (device.max_rate > device.min_rate * (1 + max_spread)) {
        losses_.add(Severity::warning, 0,
                    "devices whose clock changed: places of their ops are by its mean rate");
      }
      device.unit = UnitId(profile_.units.size());
      profile_.units.push_back({.device = number,
                                .engine = Engine::device,
                                .name = intern(fmt::format("device {}", number))});
    }
  }

  // Ops at the same place of each inference and device are one.
  std::uint32_t op_of(const OpsRow& row, std::uint32_t position) {
    const auto [known, is_new] =
        ops_.try_emplace({position, row.code}, std::uint32_t(profile_.ops.size()));
    if (!is_new) return known->second;
    const std::string_view code = file_.strings[row.code];
    Op op;
    op.name = intern(fmt::format("{} {}", code, position));
    op.kind = op.node_kind = intern(code);
    op.node = op.name;
    op.position = position;
    op.engine = row.is == OpsRow::Is::host ? Engine::host
                : is_collective(code)      ? Engine::communication
                                           : Engine::compute;
    op.once_per_inference = false;
    op.attributes = intern(file_.strings[row.fidelity]);
    std::string operands, types;
    for (const TensorCell& each : row.inputs) {
      const std::string_view type = file_.strings[each.type];
      operands +=
          fmt::format("{}[{}] {} {} {}", operands.empty() ? "" : "\n", fmt::join(each.extents, ","),
                      type, file_.strings[each.layout], file_.strings[each.memory]);
      if (types.find(type) == types.npos) types.append(types.empty() ? "" : ", ").append(type);
    }
    op.operands = intern(operands);
    op.types = intern(types);
    if (!row.outputs.empty()) {
      const TensorCell& output = row.outputs.front();
      op.shape = intern(fmt::format("[{}]", fmt::join(output.extents, ",")));
      op.extents = shape_of(output.extents, profile_.shapes);
      op.memory = intern(file_.is_in_dram(output) ? "DRAM" : "L1");
      op.output = Bytes{std::int64_t(std::min(file_.bytes_of(output).value_or(0), 1e15))};
    }
    profile_.ops.push_back(op);
    if (const auto count = macs_of(code, row)) {
      profile_.add_measure(Measure::Subject::op, known->second, macs, Origin::derived, {}, *count);
    }
    return known->second;
  }

  void add(std::size_t i) {
    const OpsRow& row = file_.rows[i];
    if (row.is == OpsRow::Is::signpost) return;
    if (row.is == OpsRow::Is::host) return add_host_op(row, i);
    const auto found = devices_.find(row.device);
    if (found == devices_.end()) return add_lost(row);
    Device& device = found->second;
    const bool is_before = i < before_;
    if (device.inference != instance_of_[i]) {
      device.inference = instance_of_[i];
      device.position = 0;
      device.end.reset();  // between inferences it waits for none of their ops
    }
    const std::uint32_t position = is_before ? device.before++ : device.position++;
    if (!row.has_times()) return add_lost(row);
    const std::uint32_t op = op_of(row, position);
    const double start =
        (double(*row.start_cycle) - double(device.first_cycle)) * device.ns_per_cycle;
    constexpr double most = 4e18;
    if (!(start >= 0 && start < most)) {
      losses_.add(Severity::warning, row.offset, "ops at an impossible time; left out");
      return;
    }
    const std::int64_t begin = std::llrint(start);
    if (device.end && begin > *device.end) {
      add_span(device.unit, wait_, SpanKind::wait, *device.end, begin - *device.end, i, no_row);
    }
    device.end = std::max(device.end.value_or(begin), begin + *row.firmware_ns);
    const Engine engine = profile_.ops[op].engine;
    add_span(device.unit, OpId(op),
             is_before                         ? SpanKind::activation
             : engine == Engine::communication ? SpanKind::communication
                                               : SpanKind::op,
             begin, *row.firmware_ns, i, i);
    if (row.was_cached) (*row.was_cached ? cached_ : compiled_) += 1;
  }

  void add_lost(const OpsRow& row) {
    losses_.add(Severity::warning, row.offset,
                "ops without times of the device: the profiler lost them, or they ran on none");
  }

  void add_span(UnitId unit, OpId op, SpanKind kind, std::int64_t begin, std::int64_t duration,
                std::size_t row, std::size_t numbers_of) {
    profile_.spans.add(unit, op, kind, begin, duration);
    if (has_inferences_) profile_.spans.instance.push_back(instance_of_[row]);
    row_of_.push_back(numbers_of);
  }

  void add_host_op(const OpsRow& row, std::size_t) {
    const std::uint32_t op = op_of(row, host_position_++);
    if (row.host_ns && *row.host_ns >= 0) {
      profile_.add_measure(Measure::Subject::op, op, host_time, Origin::measured,
                           profile_.base_clock, double(*row.host_ns));
    }
    losses_.add(Severity::warning, row.offset,
                "ops that the host ran: they are not in the timeline");
  }

  template <class Value>
  struct ColumnOf {
    MeasureColumn column;
    Value value_of;
    bool any = false;

    void add(const OpsRow* row) {
      const auto value = row == nullptr ? decltype(value_of(*row))() : value_of(*row);
      const bool is_known = value && double(*value) >= 0 && double(*value) < 1e18;
      any |= is_known;
      column.values.push_back(is_known ? std::int64_t(std::llrint(double(*value)))
                                       : MeasureColumn::missing);
    }
  };
  template <class Value>
  ColumnOf<Value> column_of(const NamedNumber& number, Origin origin, Value value_of) {
    return {profile_.column_of(number, origin, profile_.base_clock), value_of};
  }
  // Shares with decimals, which a column of whole numbers would cut.
  struct Shares {
    const NamedNumber& number;
    std::vector<std::pair<std::uint32_t, double>> of_spans{};

    void add(std::size_t span, std::optional<double> value) {
      if (value && *value >= 0) of_spans.push_back({std::uint32_t(span), *value});
    }
  };

  std::optional<double> traffic(const OpsRow& row, const std::vector<TensorCell>& tensors) const {
    if (tensors.empty() || !reads_all(file_.strings[row.code])) return std::nullopt;
    double sum = 0;
    for (const TensorCell& each : tensors) {
      if (!file_.is_in_dram(each)) continue;
      const auto bytes = file_.bytes_of(each);
      if (!bytes) return std::nullopt;
      sum += *bytes;
    }
    return sum;
  }

  // In one walk over the rows, which are large.
  void add_columns() {
    using Row = const OpsRow&;
    // 1 where tt-metal has no model of the op.
    const auto modelled = [](Row row, std::optional<double> number) {
      return row.ideal_ns && *row.ideal_ns > 1 ? number : std::nullopt;
    };
    std::tuple columns{
        column_of(kernel_time, Origin::measured, [](Row row) { return row.kernel_ns; }),
        column_of(gap_before, Origin::measured, [](Row row) { return row.gap_ns; }),
        column_of(ideal_time, Origin::estimated,
                  [&](Row row) { return modelled(row, row.ideal_ns); }),
        column_of(compute_time, Origin::estimated,
                  [&](Row row) { return modelled(row, row.compute_ns); }),
        column_of(bandwidth_time, Origin::estimated,
                  [&](Row row) { return modelled(row, row.bandwidth_ns); }),
        column_of(core_count, Origin::measured, [](Row row) { return row.cores; }),
        column_of(ddr_read_bytes, Origin::derived,
                  [&](Row row) { return traffic(row, row.inputs); }),
        column_of(ddr_write_bytes, Origin::derived,
                  [&](Row row) { return traffic(row, row.outputs); })};
    Shares fpu{fpu_use}, dram{dram_use}, noc{noc_use};
    for (std::size_t span = 0; span < row_of_.size(); ++span) {
      const OpsRow* const row = row_of_[span] == no_row ? nullptr : &file_.rows[row_of_[span]];
      std::apply([&](auto&... column) { (column.add(row), ...); }, columns);
      if (row == nullptr) continue;
      fpu.add(span, modelled(*row, row->fpu_percent));
      dram.add(span, row->dram_percent);
      noc.add(span, row->noc_percent);
    }
    const auto keep = [&](auto& column) {
      if (column.any) profile_.spans.measures.push_back(std::move(column.column));
    };
    std::apply([&](auto&... column) { (keep(column), ...); }, columns);
    for (const Shares* shares : {&fpu, &dram, &noc}) {
      for (const auto& [span, share] : shares->of_spans) {
        profile_.add_measure(Measure::Subject::span, span, shares->number, Origin::measured, {},
                             share);
      }
    }
  }

  void describe() {
    Provenance& provenance = profile_.provenance;
    provenance.format = "Tenstorrent ops";
    provenance.device =
        file_.architecture.empty() ? "Tenstorrent" : "Tenstorrent " + file_.architecture;
    if (has_inferences_) provenance.inferences = inferences_;
    using Temperature = Provenance::Temperature;
    if (compiled_ > 0) {
      provenance.temperature = cached_ > 0 ? Temperature::cold_then_warm : Temperature::cold;
    } else if (cached_ > 0) {
      provenance.temperature = Temperature::warm;
    }
    const auto note = [&](std::string message) {
      profile_.notes.push_back({Severity::info, "", 0, std::move(message), 1});
    };
    double cycles = 0, ns = 0;
    for (const auto& [number, device] : devices_) {
      cycles += device.cycles;
      ns += device.ns;
    }
    if (ns > 0)
      note(fmt::format("clock of the devices: {:.3f} GHz, cycles by nanoseconds", cycles / ns));
    note(
        "a span is the firmware's time of an op, in which its kernel ran; what lies between two "
        "ops "
        "is the host's (dispatch, compilation of kernels), not the device's");
    if (has_inferences_) {
      note(fmt::format("inferences: each {} begins one", numbered_by_));
      note(
          "an inference holds the host's time between its ops, which the profiler lengthens; take "
          "the "
          "latency from a run without it");
    }
    if (devices_.size() > 1) {
      note(
          "the counters of the devices are not related: the first op of each begins at 0, and "
          "overlap of two devices means nothing");
    }
    if (compiled_ > 0) {
      profile_.notes.push_back({Severity::warning, "", 0,
                                "ops whose program was not in the cache: the time before them is "
                                "mostly the compilation of their kernels",
                                compiled_});
    }
  }

  const OpsFile& file_;
  CountedNotes& losses_;
  Profile profile_;
  static constexpr std::size_t no_row = ~std::size_t{0};
  OpId wait_ = OpId::none;
  std::map<std::uint32_t, Device> devices_;
  std::map<Identity, std::uint32_t> ops_;
  std::vector<std::uint32_t> instance_of_;  // by row of the file
  std::vector<std::size_t> row_of_;         // of each span
  std::string numbered_by_;                 // what begins an inference
  std::size_t before_ = 0;                  // rows before the first signpost of inferences
  std::uint32_t host_position_ = 0, inferences_ = 0;
  std::uint64_t cached_ = 0, compiled_ = 0;
  bool has_inferences_ = false;
};

}  // namespace

bool looks_like_ops_perf(std::string_view head) {
  head = without_byte_order_mark(head);
  const std::string_view header = head.substr(0, head.find('\n'));
  const bool has_ops =
      header.find("OP CODE") != header.npos || header.find("OP NAME") != header.npos;
  return has_ops && header.find("DEVICE FW DURATION [ns]") != header.npos &&
         header.find("DEVICE FW START CYCLE") != header.npos;
}

Result<Profile> read_ops_perf(ByteSource& source) {
  CountedNotes losses(source.name());
  TRY_AS(file, read_ops_rows(source, losses));
  Profile profile = OpsProfile(*file, losses).make();
  if (profile.spans.size() == 0 && profile.measures.empty()) {
    return input_error(
        "{}: no row has times of a device; run with TT_METAL_DEVICE_PROFILER=1 and read the "
        "device's "
        "profiler before it closes",
        source.name());
  }
  profile.provenance.files = {source.name()};
  losses.append_to(profile.notes);
  return profile;
}

}  // namespace npuscope::tenstorrent
