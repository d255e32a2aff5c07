#include "report/units/balance_sections.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/units/peers.hpp"
#include "profile/names.hpp"
#include "report/document/document_value.hpp"
#include "report/document/shared_sections.hpp"

namespace npuscope::report {

using namespace analysis;

std::string title_in_ticks(const Profile& profile, const std::string& title) {
  if (shows_time(profile, profile.base_clock)) return title;
  return title + ", in " + unit_of(profile, profile.base_clock);
}

Section imbalance_section(const Analysis& analysis) {
  const Profile& profile = analysis.profile();
  Section section{.key = "imbalance", .title = "IMBALANCE"};
  section.table.fields = {{"parts", "of"},
                          {"members", "", Format::count},
                          {"what", "in"},
                          {"unit", "unit"},
                          {"kind", ""},
                          {"excess_of_mean", "max above mean", Format::change},
                          {"mean", "mean", Format::number},
                          {"least", "min", Format::number, false},
                          {"most", "max", Format::number},
                          {"most_loaded", "most loaded"},
                          {"least_loaded", "least loaded", Format::name, false}};
  const auto& rows = analysis.imbalance();
  const std::string unit = unit_of(profile, profile.base_clock);
  const auto unit_of_row = [&](const ImbalanceRow& row) {
    if (row.quantity == NumberQuantity::bytes) return "bytes";
    if (row.quantity != NumberQuantity::time) return "";
    return unit.empty() ? "ticks" : unit.c_str();
  };
  const auto name = [](const std::string& part) { return if_any(part); };
  for (const ImbalanceRow& row : rows) {
    section.table.rows.push_back({fmt::format("{} {}", row.members, row.parts), row.members,
                                  row.what, unit_of_row(row), stable_name(row.kind), row.excess(),
                                  row.mean, row.min, row.max, name(row.most_loaded),
                                  name(row.least_loaded)});
  }
  if (rows.empty()) return {};
  section.remarks = {
      "work and waiting are without the op that writes statistics; ops and output bytes as the "
      "compiler assigned them, each op once on each core. max above mean is (max - mean) / "
      "mean."};
  const bool of_ddr = std::any_of(rows.begin(), rows.end(),
                                  [](const ImbalanceRow& row) { return row.what == "DDR bytes"; });
  if (of_ddr) {
    section.remarks.push_back(
        "DDR bytes are read and written, as the cores counted them (the statistics too), else "
        "those "
        "of their ops.");
  }
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    const ImbalanceRow &work = rows[i], &waiting = rows[i + 1];
    if (work.what != "work" || waiting.what != "waiting" || work.parts != waiting.parts) continue;
    constexpr double notable = 0.02;
    if (work.least_loaded != waiting.most_loaded || !(work.excess().value_or(0) > notable)) {
      continue;
    }
    section.remarks.push_back(
        fmt::format("Of the {} {}, {} has the min of work and the max of waits: it waits for "
                    "slower ones, {} first.",
                    work.members, work.parts, work.least_loaded, work.most_loaded));
  }
  return section;
}

Section one_core_section(const Analysis& analysis, const std::vector<OneCoreOp>& ops,
                         std::size_t max_rows) {
  const Profile& profile = analysis.profile();
  const double wall = double(analysis.units().wall);
  Section section{.key = "one_core_ops", .title = title_in_ticks(profile, "OPS ON ONE CORE ONLY")};
  section.table.fields = {{"op", "op"},
                          {"kind", "kind", Format::name, false, true},
                          {"core", "core"},
                          {"active", "active", Format::ticks},
                          {"active_share_of_wall", "of wall", Format::share},
                          {"work", "work", Format::ticks, false},
                          {"kind_is_on_all_cores", "kernel on all cores", Format::truth}};
  section.table.row_count = ops.size();
  for (const OneCoreOp& op : ops) {
    if (section.table.rows.size() == max_rows) break;
    const Value kind = op.kind == StringId::empty ? Value() : Value(profile.text(op.kind));
    section.table.rows.push_back(
        {op.name, kind, op.core, op.active, ratio(op.active, wall), op.work, op.kind_is_on_all});
  }
  if (ops.empty()) return {};
  section.remarks = {
      "Those whose kernel runs on every core elsewhere, and those of at least 0.5 % of the wall."};
  return section;
}

Section peers_section(const Profile& profile) {
  const Peers peers = analyse_peers(profile);
  if (peers.rows.empty()) return {};
  Section section{.key = "peers", .title = title_in_ticks(profile, "BETWEEN DEVICES")};
  section.table.fields = {{"from", "from"},
                          {"to", "to"},
                          {"sent_transfers", "sent", Format::count},
                          {"sent_bytes", "bytes sent", Format::bytes},
                          {"sent_time", "sending, work", Format::ticks},
                          {"received_transfers", "received", Format::count},
                          {"received_bytes", "bytes received", Format::bytes},
                          {"received_wait", "waited for, work", Format::ticks},
                          {"paired", "paired", Format::count}};
  std::int64_t sent = 0, received = 0;
  for (const PeerRow& row : peers.rows) {
    section.table.rows.push_back({row.from, row.to, row.sent.transfers, row.sent.bytes,
                                  row.sent.time, row.received.transfers, row.received.bytes,
                                  row.received.time, row.paired});
    sent = saturating_add(sent, row.sent.bytes);
    received = saturating_add(received, row.received.bytes);
  }
  section.facts = {{{"sent_bytes", "bytes sent", Format::bytes}, sent},
                   {{"received_bytes", "bytes received", Format::bytes}, received},
                   {{"unpaired", "unpaired", Format::count}, peers.unpaired}};
  section.remarks = {
      "Devices by their slices. sending is the sum over transfers, from issue to arrival; waited "
      "for, the sum over transfers of what their receiver waited for them after it had begun to "
      "send its own share. Transfers overlap, so neither is time of the wall."};
  if (peers.unpaired > 0) {
    section.remarks.push_back(
        "Where a side lacks the other, the file is without that device or those operators.");
  }
  return section;
}

}  // namespace npuscope::report
