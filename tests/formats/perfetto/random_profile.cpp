#include "formats/perfetto/random_profile.hpp"

#include <fmt/format.h>

#include <bit>
#include <random>

namespace npuscope::perfetto::test {
namespace {

class Maker {
 public:
  explicit Maker(const RandomProfileOptions& options) : options_(options), random_(options.seed) {}

  Profile make() {
    profile_.provenance.format = "Perfetto trace";
    profile_.clocks.push_back(
        {profile_.strings.intern("boottime"), ClockKind::wall, Hertz{1e9}, true, 0});
    add_units();
    add_ops();
    for (std::uint32_t unit = 0; unit < profile_.units.size(); ++unit) add_spans(UnitId(unit));
    if (options_.accelerator) make_accelerator();
    fill_arguments();
    add_flows();
    add_counters();
    return std::move(profile_);
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  StringId text(const std::string& value) { return profile_.strings.intern(value); }

  UnitId add_unit(Engine engine, const std::string& name, UnitId parent, const std::string& pid,
                  const std::string& tid) {
    Unit unit;
    unit.engine = engine;
    unit.name = text(name);
    unit.parent = parent;
    unit.process_id = text(pid);
    unit.thread_id = text(tid);
    profile_.units.push_back(unit);
    return UnitId(profile_.units.size() - 1);
  }

  void add_units() {
    for (std::uint32_t process = 1; process <= options_.processes; ++process) {
      const std::string pid = fmt::format("{}", process * 10);
      const UnitId parent =
          add_unit(Engine::process, fmt::format("app {}", process), UnitId::none, pid, "");
      for (int thread = 1; thread <= 2; ++thread) {
        const UnitId of = add_unit(Engine::thread, fmt::format("worker {}", thread), parent, pid,
                                   fmt::format("{}", process * 10 + std::uint32_t(thread)));
        if (thread == 2) add_unit(Engine::other, "tasks", of, "", "");
      }
      add_unit(Engine::other, "queue", parent, "", "");
    }
    add_unit(Engine::other, "free", UnitId::none, "", "");
  }

  void add_ops() {
    for (int i = 0; i < 20; ++i) {
      Op op;
      op.name = text(i == 0 ? "" : fmt::format("op {}", i));
      op.kind = text(i % 3 == 0 ? "" : fmt::format("category {}", i % 3));
      profile_.ops.push_back(op);
    }
  }

  void add_span(UnitId unit, SpanKind kind, std::int64_t start, std::int64_t duration) {
    Spans& spans = profile_.spans;
    spans.unit.push_back(unit);
    spans.op.push_back(OpId(below(profile_.ops.size())));
    spans.kind.push_back(kind);
    spans.start.push_back(start);
    spans.duration.push_back(duration);
  }

  // Begins in the order of time, so that the trace tells them in the order of the profile.
  void add_spans(UnitId unit) {
    std::int64_t now = std::int64_t(below(1000)) + (std::int64_t{1} << 40);
    std::vector<std::int64_t> open;
    for (std::uint32_t i = 0; i < options_.spans / profile_.units.size(); ++i) {
      now += std::int64_t(1 + below(20));
      while (!open.empty() && open.back() <= now) open.pop_back();
      if (below(8) == 0) {
        add_span(unit, SpanKind::instant, now, 0);
        continue;
      }
      std::int64_t duration = std::int64_t(below(200));
      if (!options_.overlap && !open.empty()) duration = std::min(duration, open.back() - now);
      add_span(unit, SpanKind::slice, now, duration);
      open.push_back(now + duration);
    }
  }

  // Ops that differ in nothing but their node are two ops.
  void make_accelerator() {
    for (Op& op : profile_.ops) {
      op.node = text(fmt::format("node {}", below(3)));
      op.id = below(3);
      op.output = Bytes{std::int64_t(below(2) * 4096)};
      if (below(2) == 0) op.operands = text("input\nweights");
    }
    profile_.ops.push_back(profile_.ops.back());
    profile_.ops.back().node = text("another node");
    Spans& spans = profile_.spans;
    spans.instance.assign(spans.size(), every_instance);
    spans.processor_cycles.assign(spans.size(), -1);
    spans.instance[0] = spans.instance[1] = 0;
    spans.processor_cycles[0] = 77;
    for (std::size_t row = 2; row < spans.size(); ++row) {
      if (spans.kind[row] == SpanKind::slice) spans.kind[row] = SpanKind(below(8));
      if (below(2) == 0) spans.instance[row] = std::uint32_t(below(5));
      if (below(2) == 0) spans.processor_cycles[row] = std::int64_t(below(100000));
      if (below(10) == 0) spans.op[row] = OpId(profile_.ops.size() - 1);
    }
  }

  void fill_arguments() {
    Arguments& arguments = profile_.spans.arguments;
    const StringId keys[] = {text("alpha"), text("beta"), text("gamma"), text("delta")};
    const std::uint64_t values[] = {0,
                                    1,
                                    std::uint64_t(-5),
                                    std::uint64_t(-1),
                                    std::bit_cast<std::uint64_t>(2.5),
                                    std::uint64_t(text("shared")),
                                    std::uint64_t(text("{\"a\":[1,2]}"))};
    for (std::uint32_t shape = 1; shape <= 16; ++shape) {
      ArgumentShape made;
      for (std::uint32_t i = 0; i < 1 + below(4); ++i) {
        made.push_back({keys[i], ArgumentType(below(std::size(values)))});
      }
      arguments.shapes.push_back(made);
    }
    for (std::size_t row = 0; row < profile_.spans.size(); ++row) {
      const std::uint64_t shape = below(arguments.shapes.size());
      std::vector<std::uint64_t> of_row;
      for (const ArgumentKey& key : arguments.shapes[shape]) {
        of_row.push_back(values[std::size_t(key.type)]);
      }
      arguments.add(row, std::uint32_t(shape), of_row);
    }
  }

  void add_flows() {
    const Spans& spans = profile_.spans;
    for (std::uint32_t i = 0; i < spans.size() / 10; ++i) {
      auto from = std::uint32_t(below(spans.size()));
      auto to = std::uint32_t(below(spans.size()));
      if (spans.start[from] > spans.start[to]) std::swap(from, to);
      if (spans.start[from] == spans.start[to]) continue;
      profile_.flows.push_back({SpanId(from), SpanId(to), EdgeKind::flow, {}, {}});
    }
  }

  void add_counters() {
    profile_.counters.series.push_back({UnitId(0), text("memory"), {}, text("bytes")});
    profile_.counters.series.push_back({UnitId::none, text("power"), {}, text("W")});
    for (std::uint32_t series = 0; series < 2; ++series) {
      for (std::uint32_t i = 0; i < 20; ++i) {
        profile_.counters.of.push_back(series);
        profile_.counters.time.push_back((std::int64_t{1} << 40) + i * 50);
        profile_.counters.value.push_back(i % 4 == 0 ? 0.5 * i : double(i) - 7);
      }
    }
  }

  RandomProfileOptions options_;
  std::mt19937 random_;
  Profile profile_;
};

}  // namespace

Profile random_profile(const RandomProfileOptions& options) { return Maker(options).make(); }

}  // namespace npuscope::perfetto::test
