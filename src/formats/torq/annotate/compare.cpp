#include "formats/torq/annotate/compare.hpp"

#include <algorithm>

#include "formats/torq/annotate/simulator.hpp"
#include "formats/torq/fields.hpp"
#include "formats/torq/profile/place_names.hpp"
#include "formats/torq/runtime_log.hpp"

namespace npuscope::torq {
namespace {

double median_of(std::vector<std::int64_t> values) {
  const std::size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(middle), values.end());
  const auto upper = double(values[middle]);
  if (values.size() % 2 == 1) return upper;
  return (upper +
          double(*std::max_element(values.begin(), values.begin() + std::ptrdiff_t(middle)))) /
         2;
}

}  // namespace

std::uint64_t simulator_slowdown(const Annotation& annotation) {
  SimulatorCheck check;
  for (const AnnotatedInvocation& invocation : annotation.invocations) {
    for (const ProgramRun& program : annotation.debug->dispatches[invocation.dispatch].programs) {
      if (!program.cycles || program.executor != Executor::nss) continue;
      if (const auto time = time_of(annotation, invocation, program)) {
        check.take(length_of(*program.cycles), to_nanoseconds(length_of(*time)));
      }
    }
  }
  return check.slowdown();
}

std::vector<ProgramComparison> compare_programs(const Annotation& annotation) {
  // By dispatch and program, in the order of the invocations.
  std::vector<std::vector<std::vector<std::int64_t>>> measured;
  for (const DispatchInfo& dispatch : annotation.debug->dispatches) {
    measured.emplace_back(dispatch.programs.size());
  }
  for (const AnnotatedInvocation& invocation : annotation.invocations) {
    const auto& programs = annotation.debug->dispatches[invocation.dispatch].programs;
    for (std::size_t i = 0; i < programs.size(); ++i) {
      if (!programs[i].cycles || programs[i].executor != Executor::nss) continue;
      if (const auto time = time_of(annotation, invocation, programs[i])) {
        measured[invocation.dispatch][i].push_back(length_of(*time));
      }
    }
  }
  std::vector<ProgramComparison> rows;
  for (std::size_t d = 0; d < measured.size(); ++d) {
    const DispatchInfo& dispatch = annotation.debug->dispatches[d];
    const PlaceNames names(dispatch, annotation.debug);
    for (std::size_t i = 0; i < measured[d].size(); ++i) {
      auto& times = measured[d][i];
      if (times.empty()) continue;
      const ProgramRun& program = dispatch.programs[i];
      ProgramComparison row{.dispatch = dispatch.name, .program = program.name};
      row.location = dispatch.locations.brief(program.location);
      row.operators = joined(annotation.debug->operators_of(dispatch, program.location), " ");
      // Its location is that of its first kernel.
      std::vector<std::string> computed;
      for (const PlaceName* place : names.of(program)) {
        if (place->has_kernels) computed.push_back(place->label);
      }
      if (computed.size() > 1) {
        row.operators = joined(computed, ", ");
        row.location = fmt::format("{} places", computed.size());
      }
      row.kernels = joined(distinct(program.kernels), ",");
      row.runs = times.size();
      row.first_us = double(times.front());
      if (times.size() > 1) times.erase(times.begin());
      row.measured_us = median_of(std::move(times));
      row.estimated_cycles = length_of(*program.cycles);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace npuscope::torq
