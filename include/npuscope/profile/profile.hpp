// THE data model: what every reader makes and every analysis takes. A Profile is a set of columnar
// tables with 32-bit ids and interned strings.
//
//   clocks     a time base                                     wall, 19.2 MHz timer, core cycles
//   units      a resource that executes one thing at a time    device 0, core 3, HVX, thread 1
//   ops        an operation of the compiled graph              "/layer.0/attn/MatMul", its kernel
//   spans      one execution of an op (or wait) on one unit    unit, op, kind, start, duration
//   measures   a number about a span, op, unit or profile      port wait of unit 4: 30711 ticks
//   edges      a dependency between ops                        producer, consumer, true or false
//   flows      an arrow between two spans                      from, to, its name in the trace
//   counters   a sampled series                                VTCM bytes allocated, over time
//   phases     a named interval of the run                     "Graph Execute", inference 0
//   tensors    data between ops                                shape, type, memory, bytes
//   ports      ends of transfers between devices               op, from, to, transaction
//   notes      what a reader could not take, or repaired       file, offset, message, count
//   numbers    of a snapshot, in place of all that has rows    wall by inference, work by op
//
// All span times are ticks of one base clock, the profile's own; `base_clock` says which and how
// fast. Cycles are primary: microseconds are derived from the base clock's rate, where it has one.
// Numbers that exist for every span (processor cycles) are columns beside the spans, so that a scan
// touches nothing else; all others are rows of `measures`. What a trace says beyond that about its
// spans stays with them as typed arguments (arguments.hpp).
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "npuscope/base/string_pool.hpp"
#include "npuscope/base/units.hpp"
#include "npuscope/profile/arguments.hpp"
#include "npuscope/profile/column.hpp"
#include "npuscope/profile/meaning.hpp"
#include "npuscope/profile/shapes.hpp"

namespace npuscope {

enum class ClockId : std::uint32_t {};
enum class UnitId : std::uint32_t { none = std::numeric_limits<std::uint32_t>::max() };
enum class OpId : std::uint32_t { none = std::numeric_limits<std::uint32_t>::max() };
enum class SpanId : std::uint32_t { none = std::numeric_limits<std::uint32_t>::max() };

constexpr std::uint32_t index_of(auto id) { return static_cast<std::uint32_t>(id); }

enum class ClockKind : std::uint8_t { wall, timer, unit_cycles };

struct Clock {
  StringId name{};
  ClockKind kind = ClockKind::wall;
  Hertz rate{0};              // 0: unknown, so no time can be derived from it
  bool offset_known = false;  // whether `offset` relates it to the base clock
  std::int64_t offset = 0;    // base-clock ticks at which this clock read 0
  // Of the base clock: the file states times in steps of so many ticks, so that a span may end by
  // one after the span that encloses it; 0: times are exact.
  std::int64_t resolution = 0;
  // Of a clock without a rate of its own: a lower bound of its rate during the timeline, from
  // numbers that the files round (0: none), and the share of it that rounding may change.
  Hertz derived_rate{0};
  double derived_error = 0;
};

enum class Engine : std::uint8_t {
  none,
  device,
  core,
  hvx,
  hmx,
  dma_issue,
  dma,
  host,     // a processor outside the NPU
  process,  // of a trace that names processes and threads, not hardware
  thread,
  compute,        // a unit of the NPU that computes, of a kind without a name of its own here
  communication,  // what exchanges data with other devices
  other,
};

inline constexpr std::size_t engine_count = std::size_t(Engine::other) + 1;
const char* name_of(Engine engine);  // "DMA issue", for people; names.hpp has those of outputs

// A unit's place: a core is the parent of its engines' threads.
struct Unit {
  std::uint32_t device = 0;
  std::uint32_t core = 0;
  Engine engine = Engine::none;
  std::uint32_t lane = 0;  // thread number within the core
  StringId name{};
  UnitId parent = UnitId::none;
  StringId process_id{};  // pid and tid as the trace has them; empty where it has none
  StringId thread_id{};
};

// A product of operands, as far as the file says what it is.
enum class ProductKind : std::uint8_t { none, matrices, convolution, transposed_convolution };

struct Op {
  StringId name{};       // path in the model graph
  StringId kind{};       // kernel, e.g. aicconvolutiond32; in a generic trace the category
  StringId node{};       // the model's operator that this is part of, "MatMul_0"
  StringId node_kind{};  // "FullyConnected"
  StringId memory{};     // TCM, DDR
  StringId types{};      // distinct operand element types, "float16, i8"
  StringId shape{};      // of the output, as the file prints it; `extents` as numbers
  StringId attributes{};
  StringId provider{};  // to which the runtime gave it, "QNNExecutionProvider"; empty: not said
  StringId operands{};  // one operand a line; those of a product are in `operand_list`
  ShapeId extents{};
  Bytes output{0};
  std::uint32_t core = 0;
  std::uint32_t group = 0;     // thread group within the core
  std::uint32_t position = 0;  // place in the group's queue
  OperandsId operand_list{};
  std::uint64_t id = 0;  // the number that the vendor's files know it by; 0: none
  // The hardware it uses, where the trace says so apart from its unit: on the HTP the lane named
  // HMX also issues DMA and runs scalar code.
  Engine engine = Engine::none;
  // Executes at most once in an inference: all its spans there are tiles of that one execution,
  // whatever units they ran on and however many ran on each.
  bool once_per_inference = false;
  // Its name is that of a program or a dispatch, not of an operator: nothing is guessed from it.
  bool is_unnamed = false;
  ProductKind product = ProductKind::none;
  // The measured whole whose time its spans share, divided in the proportions of an estimate,
  // "nss_program_1"; empty: its times are its own.
  StringId split_from{};
  // What it is called in every compile of the model, where its name holds a line of the source;
  // empty: its label says it.
  StringId identity{};

  // What people call it: the model's operator where it is part of one, else its own name.
  StringId label() const { return node != StringId::empty ? node : name; }
};

enum class SpanKind : std::uint8_t {
  op,          // a kernel on a thread
  sync,        // waiting for semaphores before the op of the same id
  barrier,     // waiting after it, for the other threads of the group or to signal
  transfer,    // an asynchronous DMA transfer, from issue to completion
  inference,   // a unit's whole inference
  activation,  // setting up before the first inference
  host,        // on the host
  dma_wait,    // waiting for an asynchronous DMA transfer
  slice,       // of a generic trace: something with a name; slices of one unit may nest
  async,       // of a generic trace: begun and ended by id, perhaps on different threads
  instant,     // a moment; duration 0
  // What the tables of roles (event_roles.hpp) make of a slice of a generic trace:
  kernel,         // work of a device whose hardware the trace does not name
  copy,           // a device moves data within a memory or between two: memcpy, a DMA request
  communication,  // a device exchanges data with others: all-reduce, send, receive
  runtime_call,   // the host calls the device's runtime: a launch, an allocation
  wait,           // for another unit: a host for its device, a stream for an event
  annotation,     // a name for a stretch of time: a step, a module; never work
  profiler,       // the profiler starts, stops and writes: part of no wall
};

inline constexpr std::size_t span_kind_count = std::size_t(SpanKind::profiler) + 1;

enum class Origin : std::uint8_t { measured, counter, estimated, simulated, derived };

// One number for each span, in the order of the spans.
struct MeasureColumn {
  static constexpr std::int64_t missing = std::numeric_limits<std::int64_t>::min();

  StringId what{};  // "dominant path", "ddr read bytes": for people, the meaning is for programs
  MeasureKind kind = MeasureKind::count;
  Origin origin = Origin::measured;
  Meaning meaning{};
  ClockId clock{};  // meaningful unless kind is count
  Column<std::int64_t> values;
};

// Struct of arrays: row i of every column is one span.
struct Spans {
  Column<UnitId> unit;
  Column<OpId> op;
  Column<SpanKind> kind;
  Column<std::int64_t> start;             // ticks of the base clock
  Column<std::int64_t> duration;          // ticks of the base clock
  Column<std::int64_t> processor_cycles;  // of the unit's own clock; -1 where not measured; the
                                          // column is empty when none is
  Column<std::uint32_t> instance;         // which inference; empty when the trace does not say
  Arguments arguments;                    // empty when the trace has none
  std::vector<MeasureColumn> measures;    // numbers that (nearly) every span has
  // Of a part of a profile (filter.hpp) that lacks spans which lay inside those that it has: what
  // each had to itself, when a wait that is missing held up a unit in the midst of its work, and
  // inferences of which none of these spans is. Empty: the spans themselves tell.
  Column<std::int64_t> own;
  struct HeldUp {
    UnitId unit = UnitId::none;
    std::int64_t begin = 0, end = 0;
  };
  std::vector<HeldUp> held_up;  // by unit and time
  std::vector<std::uint32_t> other_instances;

  std::size_t size() const { return unit.size(); }
  // Unit, op, kind, start, duration, processor cycles and instance, not the rest.
  void reserve(std::size_t rows);
  void resize(std::size_t rows);  // new rows are unwritten: see column.hpp
  // A row of the columns that every profile has; those of processor cycles and instances, where
  // there are any, are the caller's.
  SpanId add(UnitId of_unit, OpId of_op, SpanKind of_kind, std::int64_t begin,
             std::int64_t length) {
    unit.push_back(of_unit);
    op.push_back(of_op);
    kind.push_back(of_kind);
    start.push_back(begin);
    duration.push_back(length);
    return SpanId(std::uint32_t(size() - 1));
  }
  const MeasureColumn* measure(StringId what) const;
  // The first of this role that has a value for every row.
  const MeasureColumn* measure(NumberRole role) const;
};

constexpr std::uint32_t every_instance = std::numeric_limits<std::uint32_t>::max();

struct Measure {
  enum class Subject : std::uint8_t { profile, unit, op, span, phase };
  Subject subject = Subject::profile;
  std::uint32_t subject_id = 0;
  StringId what{};  // "input port wait", "ddr read bytes", "pmu TASKS"
  MeasureKind kind = MeasureKind::count;
  Origin origin = Origin::measured;
  Meaning meaning{};
  ClockId clock{};  // meaningful unless kind is count
  double value = 0;
  std::uint32_t instance = every_instance;  // which inference it is of
  std::uint32_t event = 0;                  // of NumberRole::pmu_event, its code
};

enum class EdgeKind : std::uint8_t {
  data,      // true
  reuse,     // false: only the memory is reused
  flow,      // an arrow of a trace that does not say what it means
  transfer,  // between devices
  order,     // only the order of execution
};

struct Edge {
  OpId from = OpId::none;
  OpId to = OpId::none;
  EdgeKind kind = EdgeKind::data;
};

// An arrow of a trace.
struct Flow {
  SpanId from = SpanId::none;
  SpanId to = SpanId::none;
  EdgeKind kind = EdgeKind::data;
  StringId name{};
  StringId category{};
};

struct CounterSeries {
  UnitId unit = UnitId::none;  // none: of the whole profile
  StringId name{};             // "VTCM alloc"
  StringId part{};             // of a counter with several values, the value's own name
  StringId quantity{};         // what its values count: "bytes", "ns"; empty: the trace is silent
  NumberRole role = NumberRole::none;
};

// Struct of arrays: row i of every column is one sample.
struct Counters {
  std::vector<CounterSeries> series;
  Column<std::uint32_t> of;   // which series
  Column<std::int64_t> time;  // ticks of the base clock
  Column<double> value;

  std::size_t size() const { return of.size(); }
};

constexpr std::uint32_t no_phase = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t outermost_phase = no_phase - 1;

struct Phase {
  StringId name{};             // "Graph Execute"
  std::uint32_t instance = 0;  // which inference
  UnitId unit = UnitId::none;
  std::int64_t start = 0;     // ticks of the base clock
  std::int64_t duration = 0;  // ticks of the base clock
  // How long it took by a clock of known rate; negative where no such clock was read. The base
  // clock's rate during the phase is duration / microseconds: it holds for this phase only.
  double microseconds = -1;
  // The phase that this one is part of, before or after it in the table, where that is known apart
  // from when they happened; outermost_phase: of none; no_phase: only their times tell.
  std::uint32_t parent = no_phase;
};

// How files say what a phase is part of: the number of that phase, -1 for none; nothing where only
// their times tell.
inline std::optional<std::int64_t> parent_number(const Phase& phase) {
  if (phase.parent == no_phase) return std::nullopt;
  return phase.parent == outermost_phase ? -1 : std::int64_t(phase.parent);
}

constexpr std::uint32_t no_tensor = std::numeric_limits<std::uint32_t>::max();

struct Tensor {
  StringId name{};
  StringId type{};   // "UFIXED_POINT_8"
  StringId shape{};  // "[1,8,32,256]"; `extents` as numbers
  StringId memory{};
  Bytes size{0};
  bool is_constant = false;
  bool is_shape = false;  // a record of extents that ops refer to: it holds no data, its size is 0
  OpId producer = OpId::none;
  std::uint64_t id = 0;
  ShapeId extents{};
};

struct TensorUse {
  std::uint32_t tensor = no_tensor;
  OpId consumer = OpId::none;
};

// The end of a transfer between devices that an op sends or receives. Both ends name the same
// devices and transaction.
struct PeerPort {
  OpId op = OpId::none;
  StringId from{}, to{};  // devices as the file names them
  StringId transaction{};
  bool is_sender = false;
};

// An operator of the source that a compiler read, for profiles whose ops name their operators by
// their places in it: Op::node is one of these names, or several with blanks between.
struct SourceOperator {
  StringId name{};  // "onnx.Conv@L94"
  StringId kind{};  // "Conv", as the model has it
};

// What the profile was made from and how it came about.
struct Provenance {
  std::vector<std::string> files;
  std::string format;   // "QNN HTP optrace", "Chrome trace"
  std::string version;  // of the format or the tool that wrote it; empty: unknown
  std::string device;
  // Whose hardware it is: what its words, its memories and its tools are called. Unknown where the
  // files do not say, as generic traces.
  enum class Platform : std::uint8_t { unknown, cloud_ai_100, hexagon, torq, sigmastar_ipu, xla };
  Platform platform = Platform::unknown;
  std::string target;  // the described target (targets/) that has this hardware's figures, if any
  std::string graph;
  bool graph_is_numbered = false;  // by its place in a file that names no graph
  std::string instrumentation;     // "optrace", "stats level 70"; empty: unknown
  std::uint32_t inferences = 0;    // 0: unknown
  enum class Temperature : std::uint8_t { unknown, cold, warm, cold_then_warm };
  Temperature temperature = Temperature::unknown;
  // Where its times come from. Estimated, simulated: nothing ran, and the same program gives the
  // same ones again.
  Origin times = Origin::measured;
  // Of a run on a simulator of the hardware, whose times are the host's: how many times its
  // estimate the longest program took, by which it was known; 0: none was seen.
  std::uint64_t simulator_slowdown = 0;
  // Ops whose times are shares of a measured one, divided by an estimate (Op::split_from).
  std::uint64_t split_ops = 0;
  bool ran() const { return times == Origin::measured || times == Origin::counter; }
};

// One identity that the files must obey, tried.
struct Check {
  enum class Outcome : std::uint8_t { passed, failed, impossible };
  std::string name;  // "sum of dominant path + idle = timeline"
  Outcome outcome = Outcome::passed;
  std::string detail;  // "63,056 + 1,773 = 64,829 cycles"; what is missing when impossible
};

// Error: of a profile, records that its files held are missing; of what was opened, a file that was
// named is in no profile.
enum class Severity : std::uint8_t { info, warning, error };

struct Note {
  Severity severity = Severity::warning;
  std::string file;
  std::uint64_t offset = 0;  // byte in the file where it begins
  std::string message;
  std::uint64_t count = 1;  // records concerned
};

struct RunNumbers;  // run_numbers.hpp

struct Profile {
  Provenance provenance;
  StringPool strings;
  std::vector<Clock> clocks;
  ClockId base_clock{};
  std::vector<Unit> units;
  std::vector<Op> ops;
  Spans spans;
  std::vector<Measure> measures;
  std::vector<Edge> edges;
  std::vector<Flow> flows;
  Counters counters;
  std::vector<Phase> phases;
  std::vector<Tensor> tensors;
  std::vector<TensorUse> tensor_uses;
  std::vector<PeerPort> peer_ports;  // at most one an op
  Shapes shapes;
  OperandLists operand_lists;
  std::vector<SourceOperator> source_operators;  // in the order of the source
  std::vector<Check> checks;
  std::vector<Note> notes;
  std::shared_ptr<const RunNumbers> numbers;  // of a snapshot only

  std::string_view text(StringId id) const { return strings[id]; }
  ClockId add_clock(std::string_view name, ClockKind kind, Hertz rate, bool offset_known = false) {
    clocks.push_back({strings.intern(name), kind, rate, offset_known});
    return ClockId(std::uint32_t(clocks.size() - 1));
  }
  // A column of the spans without its values.
  MeasureColumn column_of(const NamedNumber& number, Origin origin, ClockId clock = {});
  void add_measure(Measure::Subject subject, std::uint32_t id, const NamedNumber& number,
                   Origin origin, ClockId clock, double value,
                   std::uint32_t instance = every_instance);
};

}  // namespace npuscope

// As in column.hpp.
extern template class std::vector<npuscope::UnitId, npuscope::UnwrittenAllocator<npuscope::UnitId>>;
extern template class std::vector<npuscope::OpId, npuscope::UnwrittenAllocator<npuscope::OpId>>;
extern template class std::vector<npuscope::SpanKind,
                                  npuscope::UnwrittenAllocator<npuscope::SpanKind>>;
