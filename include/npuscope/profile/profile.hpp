// THE data model: what every reader makes and every analysis takes. A Profile is a set of columnar
// tables with 32-bit ids and interned strings.
//
//   clocks    a time base                                      wall, 19.2 MHz timer, core cycles
//   units     a resource that executes one thing at a time     device 0, core 3, HVX, thread 1
//   ops       an operation of the compiled graph               "/layer.0/attn/MatMul"
//   aicconvolutiond32 spans     one execution of an op (or wait) on one unit     unit, op, kind,
//   start, duration measures  a number about a span, op, unit or profile       port wait of unit 4:
//   30711 ticks edges     a dependency between ops                         producer, consumer, true
//   or false notes     what a reader could not take, or repaired        file, offset, message,
//   count
//
// All span times are ticks of one base clock, the profile's own; `base_clock` says which and how
// fast. Cycles are primary: microseconds are derived from the base clock's rate, where it has one.
// Numbers that exist for every span (processor cycles) are columns beside the spans, so that a scan
// touches nothing else; all others are rows of `measures`.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "npuscope/base/string_pool.hpp"
#include "npuscope/base/units.hpp"
#include "npuscope/profile/column.hpp"

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
};

enum class Engine : std::uint8_t { none, device, core, hvx, hmx, dma_issue, dma, host, other };

// A unit's place: a core is the parent of its engines' threads.
struct Unit {
  std::uint32_t device = 0;
  std::uint32_t core = 0;
  Engine engine = Engine::none;
  std::uint32_t lane = 0;  // thread number within the core
  StringId name{};
  UnitId parent = UnitId::none;
};

struct Op {
  StringId name{};    // path in the model graph
  StringId kind{};    // kernel, e.g. aicconvolutiond32
  StringId memory{};  // TCM, DDR
  StringId types{};   // distinct operand element types, "float16, i8"
  StringId shape{};
  StringId attributes{};
  StringId operands{};  // one operand a line
  Bytes output{0};
  std::uint32_t core = 0;
  std::uint32_t group = 0;     // thread group within the core
  std::uint32_t position = 0;  // place in the group's queue
};

enum class SpanKind : std::uint8_t {
  op,          // a kernel on a thread
  sync,        // waiting for semaphores before the op of the same id
  barrier,     // waiting after it, for the other threads of the group or to signal
  transfer,    // an asynchronous DMA transfer, from issue to completion
  inference,   // a unit's whole inference
  activation,  // setting up before the first inference
  host,        // on the host
};

// Struct of arrays: row i of every column is one span.
struct Spans {
  Column<UnitId> unit;
  Column<OpId> op;
  Column<SpanKind> kind;
  Column<std::int64_t> start;             // ticks of the base clock
  Column<std::int64_t> duration;          // ticks of the base clock
  Column<std::int64_t> processor_cycles;  // of the unit's own clock; -1 where not measured
  Column<std::uint32_t> instance;         // which inference

  std::size_t size() const { return unit.size(); }
  void reserve(std::size_t rows);
  void resize(std::size_t rows);  // new rows are unwritten: see column.hpp
};

// A number carries what kind of number it is.
enum class MeasureKind : std::uint8_t {
  wall,           // end - start of everything
  span,           // one op, first start to last end
  active,         // length of the union of intervals
  work,           // sum over instances and threads; may exceed wall
  unit_busy,      // active on one unit
  domain,         // the busiest unit of a class
  dominant_path,  // share of the critical path
  count,          // events, bytes: not a time
};

enum class Origin : std::uint8_t { measured, counter, estimated, simulated, derived };

struct Measure {
  enum class Subject : std::uint8_t { profile, unit, op, span };
  Subject subject = Subject::profile;
  std::uint32_t subject_id = 0;
  StringId what{};  // "input port wait", "ddr read bytes", "pmu 0x3f"
  MeasureKind kind = MeasureKind::count;
  Origin origin = Origin::measured;
  ClockId clock{};  // meaningful unless kind is count
  double value = 0;
};

enum class EdgeKind : std::uint8_t { data, reuse };  // true; false: only the memory is reused

struct Edge {
  OpId from = OpId::none;
  OpId to = OpId::none;
  EdgeKind kind = EdgeKind::data;
};

enum class Severity : std::uint8_t { info, warning, error };

struct Note {
  Severity severity = Severity::warning;
  std::string file;
  std::uint64_t offset = 0;  // byte in the file where it begins
  std::string message;
  std::uint64_t count = 1;  // records concerned
};

struct Profile {
  StringPool strings;
  std::vector<Clock> clocks;
  ClockId base_clock{};
  std::vector<Unit> units;
  std::vector<Op> ops;
  Spans spans;
  std::vector<Measure> measures;
  std::vector<Edge> edges;
  std::vector<Note> notes;

  std::string_view text(StringId id) const { return strings[id]; }
};

}  // namespace npuscope
