#include <fmt/format.h>

#include "analysis/graph/false_dependencies.hpp"
#include "report/graph/graph_tables.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;

const char* words(SharingVerdict verdict) {
  switch (verdict) {
    case SharingVerdict::waited: return "waited though free";
    case SharingVerdict::unit_busy: return "apart, but its unit was busy";
    case SharingVerdict::untimed: return "not timed";
  }
  return "";
}

Section shared_section(const GraphView& view, std::size_t top) {
  const Profile& profile = view.profile;
  const SharedTensors shared = shared_tensors(profile, view.graph, view.times);
  Section section{.key = "shared_tensors", .title = "SHARED BY INDEPENDENT BRANCHES"};
  section.facts = {
      {{"small", "small, not reported", Format::count}, shared.small},
      {{"read_only", "  read by known kernels only", Format::count}, shared.read_only},
      {{"dependent_pairs", "  users depend on each other", Format::count}, shared.dependent},
      {{"overlapping", "  users overlap in time", Format::count}, shared.overlapping}};
  section.table.fields = {{"tensor", "", Format::count},
                          {"name", "tensor"},
                          {"shape", "shape", Format::name, false},
                          {"bytes", "size", Format::bytes},
                          {"consumers", "users", Format::count},
                          {"first_op", "", Format::count},
                          {"first", "first"},
                          {"second_op", "", Format::count},
                          {"second", "second"},
                          {"verdict", "in time"},
                          {"waited", "waited", Format::ticks, true, true},
                          {"ordered_by_edges", "", Format::truth}};
  section.table.row_count = shared.findings.size();
  for (const SharedTensor& found : shared.findings) {
    if (section.table.rows.size() == top) break;
    const Tensor& tensor = profile.tensors[found.tensor];
    const std::string name(profile.text(tensor.name));
    section.table.rows.push_back(
        {found.tensor, name.empty() ? fmt::format("tensor {}", found.tensor) : name,
         text_or_nothing(profile, tensor.shape), tensor.size.value, found.consumers,
         op_number(found.first), op_label(profile, found.first), op_number(found.second),
         op_label(profile, found.second), words(found.verdict),
         found.waited > 0 ? Value(found.waited) : Value(), found.ordered_by_compiler});
  }
  if (!shared.findings.empty()) {
    section.remarks.push_back(
        "No path of data leads from the first to the second, yet they use one tensor. If either "
        "writes to it, they cannot run at once: give each branch a scratch of its own (different "
        "contents, or a graph input), so that the compiler does not make one of them.");
  }
  if (shared.not_tried > 0) {
    section.remarks.push_back(
        fmt::format("{} pairs of smaller tensors were not tried.", shared.not_tried));
  }
  return section;
}

Section reuse_section(const GraphView& view, std::size_t top) {
  const Profile& profile = view.profile;
  const ReuseWaits reuse = reuse_waits(view.graph, view.times);
  Section section{.key = "reuse_waits", .title = "WAITS FOR MEMORY REUSE"};
  section.facts = {
      {{"reuse_edges", "reuse edges between ops that ran", Format::count}, reuse.edges},
      {{"ops_waiting", "ops that wait for nothing else", Format::count}, reuse.waits.size()},
      {{"waited_sum", "sum of their waits", Format::ticks}, reuse.sum},
      {{"waited_active", "active waits", Format::ticks}, reuse.active},
      {{"not_kept", "", Format::count}, reuse.not_kept}};
  section.table.fields = {{"op", "", Format::count},
                          {"name", "op"},
                          {"kind", "kind", Format::name, false},
                          {"waits_for_op", "", Format::count},
                          {"waits_for", "waited for"},
                          {"waits_for_kind", "kind", Format::name, false},
                          {"ready", "", Format::ticks},
                          {"waited", "waited", Format::ticks}};
  section.table.row_count = reuse.waits.size();
  for (const ReuseWait& wait : reuse.waits) {
    if (section.table.rows.size() == top) break;
    section.table.rows.push_back({op_number(wait.op), op_label(profile, wait.op),
                                  op_kind(profile, wait.op), op_number(wait.waits_for),
                                  op_label(profile, wait.waits_for),
                                  op_kind(profile, wait.waits_for), wait.ready, wait.waited});
  }
  if (reuse.not_kept > 0) {
    section.remarks.push_back(fmt::format(
        "{} reuse edges lead to an op that began before the other had ended: these times do not "
        "obey them.",
        reuse.not_kept));
  }
  return section;
}

}  // namespace

Section false_dependencies_section(const GraphView& view, std::size_t top) {
  Section section{.key = "false_dependencies", .title = "FALSE DEPENDENCIES"};
  if (view.profile.tensor_uses.empty()) {
    section.remarks.push_back(
        "The files do not say which ops use which tensor, so shared tensors cannot be found.");
  } else {
    section.parts.push_back(shared_section(view, top));
  }
  if (view.facts.edges[std::size_t(EdgeKind::reuse)] > 0 && view.times.known) {
    section.parts.push_back(reuse_section(view, top));
  } else if (view.facts.edges[std::size_t(EdgeKind::reuse)] > 0) {
    section.remarks.push_back("Without a run nothing shows what the reuse of memory costs.");
  }
  return section;
}

}  // namespace npuscope::report
