// What the parts of add_facts() share: one run on its way into a batch.
#pragma once

#include <map>

#include "fleet/facts.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/samples.hpp"

namespace npuscope::fleet {

class RunFacts {
 public:
  RunFacts(const Profile& profile, const RunOptions& options, Batch& batch);

  void add_all();

 private:
  void add_run();
  void add_inferences();
  void add_op_columns();  // work and dominant path, as diff has them
  void add_op_spans();    // what only spans tell: active, waiting, bytes
  void add_units();       // and the clock of the cores
  void add_findings();
  void add_checks_and_notes();
  void add_counters();
  void add_spans();
  void finish();

  // The row of an inference. Numbers of a whole run of one inference are that inference's.
  std::int64_t number_of(std::uint32_t inference) const;
  bool is_cold(std::int64_t inference) const;
  Inference& inference(std::int64_t number);
  Id op_of(std::uint32_t group);
  OpRun& op_run(std::int64_t inference, std::uint32_t group);
  Id unit_of(UnitId unit);
  void lose(std::string what, std::int64_t count);

  const Profile& profile_;
  const RunOptions& options_;
  Batch& batch_;
  const Id run_;
  analysis::RunSamples samples_;
  analysis::Analysis analysis_;
  TimeBase clock_;  // of the ticks
  std::map<std::int64_t, Inference> inferences_;
  std::map<std::pair<std::int64_t, Id>, OpRun> op_runs_;
  std::map<std::uint32_t, Id> ops_;    // by group
  std::map<Id, std::int64_t> counts_;  // ops of the graph, by op
  std::map<UnitId, Id> units_;
};

}  // namespace npuscope::fleet
