#include "formats/tpu_mlir/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/text.hpp"
#include "ingest/units.hpp"
#include "profile/shared_numbers.hpp"

namespace npuscope::tpu_mlir {
namespace {

constexpr NamedNumber local_bytes{"bytes between local memories", NumberQuantity::bytes};
constexpr NamedNumber model_operations =
    NamedNumber{"operations of the model (flops)", NumberQuantity::count}.not_additive();
constexpr NamedNumber bandwidth_share{"DDR bandwidth used, percent", NumberQuantity::share};
constexpr NamedNumber estimated_wall{"estimated wall", MeasureKind::wall, NumberRole::graph_wall};

// The roundest rate that the printed run time allows: chips have a round clock, and the time is cut
// to nanoseconds.
double clock_rate(std::int64_t cycles, std::int64_t runtime_ns) {
  if (cycles <= 0 || runtime_ns <= 0) return 0;
  const double least = double(cycles) / (double(runtime_ns) + 0.5) * 1e9;
  const double most = double(cycles) / (double(runtime_ns) - 0.5) * 1e9;
  for (const double step : {1e8, 5e7, 2.5e7, 1e7, 5e6, 1e6}) {
    const double round = std::floor(most / step) * step;
    if (round >= least && round > 0) return round;
  }
  return double(cycles) / double(runtime_ns) * 1e9;
}

Engine engine_of(CommandEngine engine) {
  return moves_data(engine) ? Engine::dma : Engine::compute;
}

class ProfileMaker {
 public:
  ProfileMaker(const std::vector<CoreProfile>& cores, const std::vector<TensorLocations>& locations,
               const std::vector<Module>& modules)
      : cores_(cores), first_(cores.front().profile) {
    find_layers();
    for (const TensorLocations& each : locations) consider(each);
    for (const Module& module : modules) {
      if (module.flops != 0 && module.flops == first_.flops) module_ = &module;
    }
  }

  Profile make() {
    describe();
    number_layers();
    std::size_t commands = 0;
    for (const CoreProfile& core : cores_) commands += core.profile.commands.size();
    profile_.spans.reserve(commands);
    for (const CoreProfile& core : cores_) add_core(core);
    add_bytes();
    add_numbers();
    add_notes();
    return std::move(profile_);
  }

 private:
  // Those that have a line, each once for each core.
  void find_layers() {
    for (const CoreProfile& core : cores_) {
      std::vector<bool> is_seen(core.profile.strings.size(), false);
      for (const Command& command : core.profile.commands) {
        const std::size_t layer = std::size_t(command.layer);
        if (is_seen[layer]) continue;
        is_seen[layer] = true;
        const LayerName name = layer_name(core.profile.strings[command.layer]);
        if (name.line >= 0) layers_.push_back(name);
      }
    }
  }

  // Of this program only where each operator stands in its line.
  void consider(const TensorLocations& locations) {
    std::size_t known = 0;
    for (const LayerName& layer : layers_) {
      const auto found = locations.by_line.find(layer.line);
      if (found == locations.by_line.end()) continue;
      if (found->second.operation != layer.operation) {
        unfit_ = &locations;
        return;
      }
      ++known;
    }
    if (known > 0) locations_ = &locations;
  }

  void describe() {
    Provenance& provenance = profile_.provenance;
    provenance.format = format_name;
    provenance.times = Origin::estimated;
    provenance.inferences = 1;
    for (const CoreProfile& core : cores_) provenance.files.push_back(core.profile.file);
    if (locations_ != nullptr) provenance.files.push_back(locations_->file);
    if (module_ != nullptr) {
      provenance.files.push_back(module_->file);
      provenance.device = module_->chip;
      provenance.graph = module_->name;
    }
    const double rate = clock_rate(first_.total_cycles, first_.runtime_ns);
    profile_.add_clock("NPU cycles", ClockKind::unit_cycles, Hertz(rate));
  }

  StringId intern(std::string_view text) { return profile_.strings.intern(text); }

  // "Conv2D 3": what a layer is called in every compile, whatever the lines of final.mlir.
  void number_layers() {
    std::map<std::string_view, std::set<std::int64_t>> lines;
    for (const LayerName& layer : layers_) lines[layer.operation].insert(layer.line);
    for (const auto& [operation, of_it] : lines) {
      std::size_t number = 0;
      for (const std::int64_t line : of_it) {
        identities_[fmt::format("{}_{}", operation, line)] =
            fmt::format("{} {}", operation, ++number);
      }
    }
  }

  void add_core(const CoreProfile& core) {
    const std::vector<Command>& commands = core.profile.commands;
    const UnitId parent = add_unit(profile_, {.core = core.core,
                                              .engine = Engine::core,
                                              .name = intern(fmt::format("core {}", core.core))});
    std::array<bool, engine_count> is_used{};
    for (const Command& command : commands) is_used[std::size_t(command.engine)] = true;
    std::array<UnitId, engine_count> units{};
    for (std::size_t i = 0; i < engine_count; ++i) {
      if (!is_used[i]) continue;
      const auto engine = CommandEngine(i);
      units[i] = add_unit(profile_, {.core = core.core,
                                     .engine = engine_of(engine),
                                     .name = intern(name_of(engine)),
                                     .parent = parent});
    }
    const std::size_t first_row = profile_.spans.size();
    ops_.clear();
    for (const Command& command : commands) {
      Spans& spans = profile_.spans;
      const bool is_message = core.profile.strings[command.command].ends_with("_MSG");
      const SpanKind kind = is_message                   ? SpanKind::sync
                            : moves_data(command.engine) ? SpanKind::transfer
                                                         : SpanKind::op;
      spans.add(units[std::size_t(command.engine)], op_of(core, command), kind, command.start,
                command.cycles);
      messages_ += is_message;
    }
    link(core.profile, first_row);
    check(core);
  }

  OpId op_of(const CoreProfile& core, const Command& command) {
    const std::uint64_t key = std::uint64_t(command.layer) << 32 |
                              std::uint64_t(command.command) << 2 | std::uint64_t(command.engine);
    const auto [place, is_new] = ops_.try_emplace(key, OpId(profile_.ops.size()));
    if (!is_new) return place->second;
    const std::string_view layer = core.profile.strings[command.layer];
    const std::string_view kernel = core.profile.strings[command.command];
    const LayerName name = layer_name(layer);
    Op op;
    op.name = op.node = intern(layer.empty() ? "messages between cores" : layer);
    op.node_kind = intern(layer.empty() ? "message" : name.operation);
    op.kind = intern(kernel);
    op.engine = engine_of(command.engine);
    op.core = core.core;
    op.position = std::uint32_t(profile_.ops.size());
    op.once_per_inference = true;
    if (const auto found = identities_.find(layer); found != identities_.end()) {
      op.identity = intern(found->second);
    }
    if (locations_ != nullptr) {
      const auto found = locations_->by_line.find(name.line);
      if (found != locations_->by_line.end() && !found->second.tensor.empty()) {
        op.node = intern(found->second.tensor);
        op.identity = {};  // the tensor's name is the same in every compile
      }
    }
    profile_.ops.push_back(op);
    return place->second;
  }

  // A command waits for the last one that was issued to each other engine before it.
  void link(const CompilerProfile& core, std::size_t first_row) {
    std::array<std::unordered_map<std::int64_t, std::size_t>, engine_count> by_id;  // so far
    // By engine, for whose command of each other one it has waited already.
    std::array<std::array<std::int64_t, engine_count>, engine_count> waited{};
    const std::vector<Command>& commands = core.commands;
    const StringId name = intern("command id");
    for (std::size_t i = 0; i < commands.size(); ++i) {
      const Command& command = commands[i];
      const auto own = std::size_t(command.engine);
      by_id[own].insert_or_assign(command.ids[own], i);
      for (std::size_t other = 0; other < engine_count; ++other) {
        const std::int64_t id = command.ids[other];
        if (other == own || id == waited[own][other]) continue;
        waited[own][other] = id;
        const auto found = by_id[other].find(id);
        if (found == by_id[other].end()) continue;
        const Command& awaited = commands[found->second];
        if (awaited.start + awaited.cycles > command.start) {
          ++contradicted_;
          continue;
        }
        const auto from = SpanId(std::uint32_t(first_row + found->second));
        const auto to = SpanId(std::uint32_t(first_row + i));
        profile_.flows.push_back({from, to, EdgeKind::order, name, {}});
      }
    }
  }

  void check(const CoreProfile& core) {
    const CompilerProfile& from = core.profile;
    std::array<std::int64_t, engine_count> cycles{};
    std::array<std::int64_t, direction_count> bytes{};
    for (const Command& command : from.commands) {
      add(cycles[std::size_t(command.engine)], command.cycles);
      add(end_, std::max<std::int64_t>(0, command.start + command.cycles - end_));
      if (command.direction && command.engine == CommandEngine::gdma) {
        add(bytes[std::size_t(*command.direction)], command.bytes);
      }
    }
    const auto try_sum = [&](const std::string& what, std::int64_t sum,
                             const std::optional<std::int64_t>& stated) {
      if (!stated) return;
      profile_.checks.push_back(
          {cores_.size() > 1 ? fmt::format("core {}: {}", core.core, what) : what,
           sum == *stated ? Check::Outcome::passed : Check::Outcome::failed,
           fmt::format("{} and {}", sum, *stated)});
    };
    for (std::size_t i = 0; i < engine_count; ++i) {
      try_sum(fmt::format("sum of {} commands = cycles of the engine", name_of(CommandEngine(i))),
              cycles[i], from.engine_cycles[i]);
    }
    for (std::size_t i = 0; i < direction_count; ++i) {
      try_sum(fmt::format("sum of GDMA bytes {} = its summary", name_of(Direction(i))), bytes[i],
              from.bytes[i]);
    }
  }

  static void add(std::int64_t& sum, std::int64_t value) {
    if (__builtin_add_overflow(sum, value, &sum)) sum = std::numeric_limits<std::int64_t>::max();
  }

  // Of a transfer within the memory outside the cores, both.
  void add_bytes() {
    using enum Direction;
    add_bytes(ddr_read_bytes, {system_to_local, system_to_system});
    add_bytes(ddr_write_bytes, {local_to_system, system_to_system});
    add_bytes(local_bytes, {local});
  }

  void add_bytes(const NamedNumber& number, std::initializer_list<Direction> of) {
    MeasureColumn column = profile_.column_of(number, Origin::estimated);
    column.values.reserve(profile_.spans.size());
    bool is_any = false;
    for (const CoreProfile& core : cores_) {
      for (const Command& command : core.profile.commands) {
        const bool counts =
            command.direction && std::ranges::find(of, *command.direction) != of.end();
        column.values.push_back(counts ? command.bytes : MeasureColumn::missing);
        is_any |= counts;
      }
    }
    if (is_any) profile_.spans.measures.push_back(std::move(column));
  }

  void add_numbers() {
    const auto add = [&](const NamedNumber& number, double value) {
      profile_.add_measure(Measure::Subject::profile, 0, number, Origin::estimated,
                           profile_.base_clock, value);
    };
    if (first_.has_end) {
      add(estimated_wall, double(first_.total_cycles));
      profile_.checks.push_back(
          {"last command's end = total_cycle",
           end_ == first_.total_cycles ? Check::Outcome::passed : Check::Outcome::failed,
           fmt::format("{} and {}", end_, first_.total_cycles)});
    }
    if (first_.flops > 0) add(model_operations, double(first_.flops));
    if (first_.bandwidth_share >= 0) add(bandwidth_share, first_.bandwidth_share);
  }

  void note(Severity severity, std::string message, std::uint64_t count = 1) {
    profile_.notes.push_back({severity, first_.file, 0, std::move(message), count});
  }

  void add_notes() {
    for (const CoreProfile& core : cores_) {
      profile_.notes.insert(profile_.notes.end(), core.profile.notes.begin(),
                            core.profile.notes.end());
    }
    note(Severity::info,
         "times are cycles of the compiler's cost model: nothing ran, and work of the host costs "
         "none");
    if (cores_.size() > 1 || messages_ > 0) {
      note(Severity::info,
           "the compiler times each core by itself, from its own start: waits between cores "
           "(messages) take no time in the file, so what cores do at the same time is not known");
    }
    if (contradicted_ > 0) {
      note(Severity::warning, "waits for commands that end later; left out", contradicted_);
    }
    if (unfit_ != nullptr && locations_ == nullptr) {
      profile_.notes.push_back({Severity::warning, unfit_->file, 0,
                                "tensor locations of another program; layers keep their lines of "
                                "final.mlir as names",
                                1});
    }
  }

  const std::vector<CoreProfile>& cores_;
  const CompilerProfile& first_;
  const TensorLocations* locations_ = nullptr;
  const TensorLocations* unfit_ = nullptr;
  const Module* module_ = nullptr;
  Profile profile_;
  std::map<std::string, std::string, std::less<>> identities_;
  std::vector<LayerName> layers_;
  std::unordered_map<std::uint64_t, OpId> ops_;  // of the core, by layer, command and engine
  std::int64_t end_ = 0;
  std::uint64_t messages_ = 0, contradicted_ = 0;
};

}  // namespace

bool are_of_one_program(const CompilerProfile& a, const CompilerProfile& b) {
  return a.has_end && b.has_end && a.total_cycles == b.total_cycles && a.flops == b.flops &&
         a.runtime_ns == b.runtime_ns;
}

Profile make_profile(const std::vector<CoreProfile>& cores,
                     const std::vector<TensorLocations>& locations,
                     const std::vector<Module>& modules) {
  return ProfileMaker(cores, locations, modules).make();
}

}  // namespace npuscope::tpu_mlir
