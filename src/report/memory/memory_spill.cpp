#include <fmt/format.h>

#include "report/memory/memory_sections.hpp"

namespace npuscope::report {
namespace {

using analysis::Route;
using analysis::SpillSide;

// The tensor that an op makes, else the op itself.
std::string name_of_op(const Profile& profile, OpId id) {
  const Op& op = profile.ops[index_of(id)];
  return std::string(profile.text(op.label()));
}

Section tensors_section(const Profile& profile, const analysis::Spill& spill, std::size_t top) {
  Section tensors{.key = "tensors", .title = "SPILLED TENSORS, by bytes read back"};
  tensors.table.fields = {{"tensor", "of"},
                          {"shape", "shape", Format::name, false, true},
                          {"spills", "spills", Format::count},
                          {"fills", "fills", Format::count},
                          {"written_bytes", "written", Format::bytes},
                          {"read_bytes", "read back", Format::bytes},
                          {"away", "away", Format::ticks, true, true}};
  for (const analysis::SpilledTensor& tensor : spill.tensors) {
    if (tensors.table.rows.size() == top) break;
    const std::string_view shape = profile.text(profile.ops[index_of(tensor.op)].shape);
    tensors.table.rows.push_back({name_of_op(profile, tensor.op),
                                  shape.empty() ? Value() : Value(shape), tensor.spills,
                                  tensor.fills, tensor.written, tensor.read, tensor.away});
  }
  tensors.table.row_count = spill.tensors.size();
  return tensors;
}

}  // namespace

Section spill_section(const Profile& profile, const analysis::Spill& spill,
                      const analysis::MemoryTable& table, std::size_t top) {
  Section section{.key = "spill", .title = "SPILL AND FILL"};
  if (!spill.any()) return {};
  section.table.fields = {{"side", "side"},
                          {"ops", "ops", Format::count},
                          {"instances", "instances", Format::count},
                          {"ddr_bytes", "DDR bytes", Format::bytes, true, true},
                          {"vtcm_bytes", "VTCM bytes", Format::bytes, true, true},
                          of_kind(MeasureKind::work, {"work", "work", Format::ticks}),
                          {"exposed", "exposed", Format::ticks, true, true},
                          {"hidden", "hidden", Format::ticks, true, true},
                          {"waited", "waited for", Format::ticks},
                          {"alone", "alone", Format::ticks}};
  const auto put = [&](const char* name, const SpillSide& side, Route ddr, Route vtcm) {
    section.table.rows.push_back({name, side.ops, side.instances, at(side.bytes, ddr),
                                  at(side.bytes, vtcm), side.work, side.exposed, side.hidden(),
                                  side.waited, side.alone});
  };
  put("spill", spill.spill, Route::ddr_write, Route::vtcm_read);
  put("fill", spill.fill, Route::ddr_read, Route::vtcm_write);
  const bool has_path = spill.spill.exposed || spill.fill.exposed;
  section.remarks.push_back(
      has_path ? "Exposed is the dominant path's share, hidden the rest of the work; alone is time "
                 "in which nothing else works."
               : "Alone is time in which nothing else works: exposed at least.");
  if (table.first_apart) section.remarks.emplace_back(over_all_inferences);
  if (spill.has_edges && spill.unpaired_spills + spill.unpaired_fills > 0) {
    section.remarks.push_back(
        fmt::format("{} spills and {} fills have no partner in the graph's edges.",
                    spill.unpaired_spills, spill.unpaired_fills));
  }
  if (!spill.tensors.empty()) section.parts.push_back(tensors_section(profile, spill, top));
  return section;
}

}  // namespace npuscope::report
