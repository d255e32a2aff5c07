// The rows of a fleet's tables: what a store keeps of runs. schema.hpp says what each column is.
//
//   Batch batch;
//   batch.runs.push_back(run);
//   batch.op_runs.push_back({.run = run.id, .inference = 3, .op = id, .work = 32707});
//   store->add(batch);          // all of it, or nothing
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace npuscope::fleet {

using Id = std::int64_t;  // 63 bits of a hash: the same in every store

// Of numbers that are of a run's inferences together.
inline constexpr std::int64_t all_inferences = -1;

struct Run {
  Id id = 0;
  std::string content;
  std::int64_t time = 0;
  std::string time_from;
  std::optional<std::string> device, soc, sdk, model, graph;
  std::string format;
  std::string temperature;
  std::optional<std::string> instrumentation;
  std::string origin;
  std::optional<std::string> clock, clock_kind;
  std::optional<double> hertz;
  std::int64_t inferences = 0;
  bool damaged = false;
  std::string files;
};

struct Tag {
  Id run = 0;
  std::string key;
  std::string value;
  std::optional<double> number;
};

struct OpKey {
  Id id = 0;
  std::string name;
  std::string kind;
};

struct UnitKey {
  Id id = 0;
  std::string path;
  std::string engine;
};

struct Inference {
  Id run = 0;
  std::int64_t inference = 0;
  bool cold = false;
  std::optional<double> wall, active, waiting, idle, work;
  std::optional<double> wall_seconds, latency_seconds, device_latency_seconds;
  std::optional<double> clock_hertz;
  std::optional<double> ddr_read_bytes, ddr_write_bytes, vtcm_read_bytes, vtcm_write_bytes;
};

struct OpRun {
  Id run = 0;
  std::int64_t inference = 0;
  Id op = 0;
  bool cold = false;
  std::int64_t ops = 0;
  std::optional<double> work, active, waiting, dominant_path;
  std::optional<double> ddr_read_bytes, ddr_write_bytes;
};

struct UnitRun {
  Id run = 0;
  std::int64_t inference = 0;
  Id unit = 0;
  bool cold = false;
  std::int64_t busy = 0, waiting = 0, work = 0, spans = 0;
};

struct FindingRow {
  Id run = 0;
  std::string rule;
  std::string outcome;
  std::optional<std::string> weight = {}, title = {}, missing = {};
  std::optional<double> gain_share = {};
};

struct CheckRow {
  Id run = 0;
  std::string name;
  std::string outcome;
  std::string detail;
};

struct NoteRow {
  Id run = 0;
  std::string severity;
  std::string file;
  std::int64_t offset = 0;
  std::string message;
  std::int64_t count = 0;
};

struct CounterRow {
  Id run = 0;
  std::string series;
  std::optional<std::string> unit, quantity;
  std::int64_t samples = 0;
  double min = 0, mean = 0, max = 0;
};

struct SpanRow {
  Id run = 0;
  std::int64_t inference = 0;
  std::optional<Id> unit, op;
  std::string kind;
  std::int64_t start = 0, duration = 0;
};

struct Batch {
  std::vector<Run> runs;
  std::vector<Tag> tags;
  std::vector<OpKey> ops;
  std::vector<UnitKey> units;
  std::vector<Inference> inferences;
  std::vector<OpRun> op_runs;
  std::vector<UnitRun> unit_runs;
  std::vector<FindingRow> findings;
  std::vector<CheckRow> checks;
  std::vector<NoteRow> notes;
  std::vector<CounterRow> counters;
  std::vector<SpanRow> spans;
};

}  // namespace npuscope::fleet
