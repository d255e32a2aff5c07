#include "query/random_profile.hpp"

#include <fmt/format.h>

#include <bit>
#include <random>

namespace npuscope::test_support {
namespace {

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  Profile make(std::size_t spans);

 private:
  std::uint32_t below(std::uint32_t end) { return std::uint32_t(random_() % end); }
  bool maybe() { return below(2) == 0; }
  template <class Enum>
  Enum any(std::uint32_t values) {
    return Enum(below(values));
  }
  // Sometimes none, sometimes of no row.
  template <class Id>
  Id id(std::size_t count) {
    const std::uint32_t which = below(20);
    if (which == 0 || count == 0) return Id(0xFFFFFFFF);
    if (which == 1) return Id(count + below(3));
    return Id(below(std::uint32_t(count)));
  }
  StringId name(const char* stem) {
    switch (below(12)) {
      case 0: return StringId::empty;
      case 1: return profile_.strings.intern("\xff\x80 not 'UTF-8'");
      case 2: return profile_.strings.intern(std::string_view("a\0b", 3));
      case 3: return profile_.strings.intern(fmt::format("{}", below(5)));
      default: return profile_.strings.intern(fmt::format("{}_{}", stem, below(7)));
    }
  }
  std::int64_t time() {
    switch (below(30)) {
      case 0: return std::numeric_limits<std::int64_t>::max() - below(3);
      case 1: return std::numeric_limits<std::int64_t>::min() + below(3);
      default: return std::int64_t(below(2000)) - 200;
    }
  }
  void add_about();
  void add_graph();
  void add_spans(std::size_t count);
  void add_arguments();
  Meaning meaning();
  void add_numbers();
  void add_run();

  std::mt19937_64 random_;
  Profile profile_;
};

void Maker::add_about() {
  Provenance& about = profile_.provenance;
  about.files = {"a.json", "b\xff.json"};
  about.format = "test";
  about.inferences = below(3);
  about.temperature = any<Provenance::Temperature>(4);
  for (std::uint32_t i = 0; i <= below(3); ++i) {
    profile_.clocks.push_back({name("clock"), any<ClockKind>(3), Hertz{maybe() ? 19.2e6 : 0},
                               maybe(), std::int64_t(below(100))});
  }
  for (std::uint32_t i = 0, count = below(9); i < count; ++i) {
    Unit unit;
    unit.device = below(2);
    unit.core = below(3);
    unit.engine = any<Engine>(11);
    unit.lane = below(4);
    unit.name = name("unit");
    unit.parent = maybe() || i == 0 ? UnitId::none : UnitId(below(i));
    unit.process_id = name("pid");
    profile_.units.push_back(unit);
  }
  profile_.checks.push_back({"sum", any<Check::Outcome>(3), "1 + 2"});
  profile_.notes.push_back({any<Severity>(3), "a.json", below(1000), "odd", below(9)});
}

void Maker::add_graph() {
  for (std::uint32_t i = 0, count = below(20); i < count; ++i) {
    Op op;
    op.name = name("op");
    op.kind = name("kind");
    op.node = name("node");
    op.engine = any<Engine>(11);
    op.output = Bytes{std::int64_t(below(5000))};
    op.core = below(4);
    op.position = below(9);
    op.id = maybe() ? ~std::uint64_t{0} - below(3) : below(9);
    profile_.ops.push_back(op);
  }
  const std::size_t ops = profile_.ops.size();
  for (std::uint32_t i = 0, count = below(30); i < count; ++i) {
    profile_.edges.push_back({id<OpId>(ops), id<OpId>(ops), any<EdgeKind>(5)});
  }
  for (std::uint32_t i = 0, count = below(9); i < count; ++i) {
    profile_.tensors.push_back({name("tensor"), name("type"), name("shape"), name("memory"),
                                Bytes{std::int64_t(below(99))}, maybe(), false, id<OpId>(ops),
                                below(7)});
    profile_.tensor_uses.push_back({id<std::uint32_t>(count), id<OpId>(ops)});
  }
}

void Maker::add_spans(std::size_t count) {
  Spans& spans = profile_.spans;
  const bool cycles = maybe(), instances = maybe(), ascending = maybe();
  std::int64_t last = -50;
  for (std::size_t i = 0; i < count; ++i) {
    spans.unit.push_back(id<UnitId>(profile_.units.size()));
    spans.op.push_back(id<OpId>(profile_.ops.size()));
    spans.kind.push_back(any<SpanKind>(11));
    last += below(5);
    spans.start.push_back(ascending ? last : time());
    spans.duration.push_back(time());
    if (cycles) spans.processor_cycles.push_back(std::int64_t(below(100)) - 10);
    if (instances) spans.instance.push_back(id<std::uint32_t>(3));
  }
}

void Maker::add_arguments() {
  Spans& spans = profile_.spans;
  if (maybe() || spans.size() == 0) return;
  Arguments& arguments = spans.arguments;
  for (std::uint32_t i = 0; i < 4; ++i) {
    ArgumentShape shape;
    for (std::uint32_t place = 0, count = below(4); place < count; ++place) {
      shape.push_back({name("key"), any<ArgumentType>(7)});
    }
    arguments.shapes.push_back(shape);
  }
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const std::uint32_t shape = below(std::uint32_t(arguments.shapes.size()));
    std::vector<std::uint64_t> values;
    for (const ArgumentKey& key : arguments.shapes[shape]) {
      const bool is_text = key.type == ArgumentType::text || key.type == ArgumentType::json;
      values.push_back(is_text                             ? index_of(name("value"))
                       : key.type == ArgumentType::boolean ? below(2)
                       : key.type == ArgumentType::number
                           ? std::bit_cast<std::uint64_t>(below(1000) / 8.0)
                           : random_());
    }
    arguments.add(row, shape, values);
  }
}

Meaning Maker::meaning() {
  return {any<NumberQuantity>(7), any<NumberRole>(number_role_count), any<Statistic>(11), maybe()};
}

void Maker::add_numbers() {
  Spans& spans = profile_.spans;
  for (const char* what : {"ddr read bytes", "dominant path"}) {
    if (maybe()) continue;
    MeasureColumn column{profile_.strings.intern(what),
                         any<MeasureKind>(8),
                         any<Origin>(5),
                         meaning(),
                         ClockId(0),
                         {}};
    for (std::size_t row = 0; row < spans.size(); ++row) {
      column.values.push_back(maybe() ? MeasureColumn::missing : std::int64_t(below(999)));
    }
    spans.measures.push_back(std::move(column));
  }
  for (std::uint32_t i = 0, count = below(30); i < count; ++i) {
    const double value =
        below(9) == 0 ? std::numeric_limits<double>::quiet_NaN() : below(1000) / 4.0;
    profile_.measures.push_back({any<Measure::Subject>(5), id<std::uint32_t>(5),
                                 maybe() ? name("what") : profile_.strings.intern("ddr read bytes"),
                                 any<MeasureKind>(8), any<Origin>(5), meaning(), ClockId(0), value,
                                 id<std::uint32_t>(3)});
  }
}

void Maker::add_run() {
  Counters& counters = profile_.counters;
  for (std::uint32_t i = 0; i < 3; ++i) {
    counters.series.push_back(
        {id<UnitId>(profile_.units.size()), name("counter"), name("part"), name("quantity")});
  }
  for (std::uint32_t i = 0, count = below(30); i < count; ++i) {
    counters.of.push_back(below(3));
    counters.time.push_back(time());
    counters.value.push_back(below(100) / 2.0);
  }
  for (std::uint32_t i = 0, count = below(6); i < count; ++i) {
    profile_.phases.push_back({name("phase"), below(3), id<UnitId>(profile_.units.size()), time(),
                               time(), maybe() ? -1 : 2.5,
                               maybe()   ? no_phase
                               : maybe() ? outermost_phase
                                         : below(count)});
  }
  const std::size_t spans = profile_.spans.size();
  for (std::uint32_t i = 0, count = below(20); i < count; ++i) {
    profile_.flows.push_back(
        {id<SpanId>(spans), id<SpanId>(spans), any<EdgeKind>(5), name("flow"), name("category")});
  }
}

Profile Maker::make(std::size_t spans) {
  add_about();
  add_graph();
  add_spans(spans);
  add_arguments();
  add_numbers();
  add_run();
  return std::move(profile_);
}

}  // namespace

Profile random_profile(std::uint64_t seed, std::size_t spans) { return Maker(seed).make(spans); }

}  // namespace npuscope::test_support
