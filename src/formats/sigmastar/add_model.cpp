#include <algorithm>

#include "base/try.hpp"
#include "formats/sigmastar/layer_rows.hpp"
#include "formats/sigmastar/op_cost.hpp"
#include "formats/sigmastar/profile.hpp"
#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope::sigmastar {
namespace {

std::vector<LayerRun> runs_of(const Profile& profile, const LayerRows& rows) {
  std::vector<LayerRun> runs;
  for (const LayerRow& layer : rows.layers()) {
    LayerRun run;
    run.core = layer.core;
    run.start = profile.spans.start[layer.row];
    run.duration = profile.spans.duration[layer.row];
    run.cycles = layer.cycles;
    run.index = layer.index;
    const OpId op = profile.spans.op[layer.row];
    if (op != OpId::none) run.name = profile.text(profile.ops[index_of(op)].name);
    runs.push_back(std::move(run));
  }
  return runs;
}

std::vector<Interval> inferences_of(const Profile& profile) {
  std::vector<Interval> inferences;
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    if (profile.spans.kind[row] != SpanKind::inference) continue;
    inferences.push_back(interval_of(profile.spans, row));
  }
  return inferences;
}

// Whether records of the timeline, or of the logs that it was made of, are missing.
bool has_losses(const Profile& profile) {
  return std::any_of(profile.notes.begin(), profile.notes.end(),
                     [](const Note& note) { return note.severity == Severity::error; });
}

void describe(Profile& profile, Op& op, const Model& model, std::uint32_t index) {
  const ModelOperator& of = model.operators[index];
  op.kind = op.node_kind = profile.strings.intern(of.type);
  op.node = profile.strings.intern(of.label.empty() ? fmt::format("{} {}", index, of.type)
                                                    : fmt::format("{} {}", index, of.label));
  op.position = index;
}

}  // namespace

Status add_model(Profile& profile, const Model& model, const std::string& model_name) {
  const LayerRows rows(profile);
  const auto& files = profile.provenance.files;
  const std::string timeline = files.empty() ? "the timeline" : files.front();
  const std::vector<Interval> inferences = inferences_of(profile);
  TRY_AS(costs, charge_operators(model, runs_of(profile, rows), timeline,
                                 {.inferences = inferences, .is_incomplete = has_losses(profile)}));
  for (std::size_t i = 0; i < rows.layers().size(); ++i) {
    const OpId op = profile.spans.op[rows.layers()[i].row];
    if (op == OpId::none || !costs->operator_of[i]) continue;
    describe(profile, profile.ops[index_of(op)], model, *costs->operator_of[i]);
  }
  profile.provenance.files.push_back(model_name);
  profile.provenance.graph = model.description;
  if (costs->is_partial()) {
    // The first: what stands in the head of every page.
    profile.notes.insert(profile.notes.begin(), {Severity::error, model_name, 0,
                                                 "the IPU log " + coverage_text(*costs), 1});
  }
  for (const std::string& remark : costs->remarks) {
    profile.notes.push_back({Severity::info, model_name, 0, remark, 1});
  }
  return {};
}

}  // namespace npuscope::sigmastar
