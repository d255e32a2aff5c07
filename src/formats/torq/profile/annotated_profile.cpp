// An annotated table as a profile: what its runtime log and debug information would give, but for
// the calls of the host and the scopes of the runtime.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "base/text.hpp"
#include "base/try.hpp"
#include "formats/torq/annotate/annotate.hpp"
#include "formats/torq/annotate/read_annotated.hpp"
#include "formats/torq/profile/place_names.hpp"
#include "formats/torq/profile/rows.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::torq {
namespace {

class TableProfile {
 public:
  Result<Profile> run(ByteSource& source) {
    profile_.provenance.format = "Torq annotated table";
    profile_.provenance.platform = Provenance::Platform::torq;
    profile_.provenance.device = "Torq";
    profile_.provenance.instrumentation = "runtime log";
    profile_.base_clock = profile_.add_clock("monotonic", ClockKind::wall, Hertz{1e9});
    host_ = add_unit(profile_, "host", Engine::host, UnitId::none);
    const UnitId npu = add_unit(profile_, "NPU", Engine::device, UnitId::none);
    nss_ = add_unit(profile_, "NSS", Engine::core, npu);
    TRY(read_annotated(source, profile_.notes, [&](const AnnotatedRow& row) { take(row); }));
    add_program_flows(profile_, host_, waited_for_);
    add_source_operators_of_ops(profile_);
    if (several_kernels_ > 0) {
      profile_.notes.push_back({Severity::warning, "", 0,
                                "programs of several kernels, each one piece of time here; open "
                                "the runtime log with debug information, which splits them",
                                several_kernels_});
    }
    return std::move(profile_);
  }

 private:
  void take(const AnnotatedRow& row) {
    const bool starts = row.operation.starts_with("torq_hl.start_program");
    if (starts) started_[std::string(row.job)] = {row.begin_ns};
    if (!row.begin_ns || !row.end_ns) return;
    if (row.operation.starts_with("__HAL")) {
      const std::int64_t length = saturating_subtract(*row.end_ns, *row.begin_ns);
      profile_.phases.push_back({profile_.strings.intern(row.location), 0, host_, *row.begin_ns,
                                 length, double(length) / 1e3});
      return;
    }
    const bool waits = ends_program(row);
    if (row.operation.starts_with("torq_hw.") && row.action == last_action_) return;
    last_action_ = row.action;
    const SpanId span = add(host_, op_of(row, row.operation),
                            waits ? SpanKind::sync : SpanKind::host, *row.begin_ns, *row.end_ns);
    if (starts) started_[std::string(row.job)].span = span;
    if (!waits || !row.uses) return;
    const auto found = started_.find(std::string(row.job));
    const bool known =
        found != started_.end() && found->second.begin && *found->second.begin <= *row.end_ns;
    const SpanId program = add(nss_, op_of(row, "NSS program"), SpanKind::op,
                               known ? *found->second.begin : *row.begin_ns, *row.end_ns);
    waited_for_.push_back({known ? found->second.span : SpanId::none, program, program, span});
  }

  static std::set<std::string_view> kernels_of(const AnnotatedRow& row) {
    std::set<std::string_view> kernels;
    for (std::string_view rest = row.kernels; !rest.empty();) {
      const std::string_view kernel = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), kernel.size() + 1));
      if (!trimmed(kernel).empty()) kernels.insert(trimmed(kernel));
    }
    return kernels;
  }

  // An operator runs as one kind of kernel, if as several of its tiles.
  static bool is_of_several(const std::set<std::string_view>& kernels, std::string_view operators) {
    std::set<std::string_view> kinds;
    for (const std::string_view kernel : kernels) kinds.insert(kernel_without_number(kernel));
    const std::size_t named = std::max<std::size_t>(
        1, operators.empty() ? 0 : 1 + std::size_t(std::ranges::count(operators, ' ')));
    return kinds.size() > named || kernels.size() > named + 1;
  }

  SpanId add(UnitId unit, OpId op, SpanKind kind, std::int64_t begin, std::int64_t end) {
    return profile_.spans.add(unit, op, kind, begin, saturating_subtract(end, begin));
  }

  OpId op_of(const AnnotatedRow& row, std::string_view what) {
    const std::tuple key{std::string(row.action), std::string(what), std::string(row.location),
                         std::string(row.operators)};
    const auto [place, is_new] = ops_.try_emplace(key, OpId(profile_.ops.size()));
    if (!is_new) return place->second;
    Op op;
    op.name = profile_.strings.intern(fmt::format("{} {} {}", what, row.action, row.location));
    const std::set<std::string_view> named = kernels_of(row);
    const std::size_t kernels = named.size();
    const bool is_program = what == "NSS program";
    op.kind = profile_.strings.intern(is_program && kernels == 1 ? row.kernels : what);
    if (is_of_several(named, row.operators)) {
      // The row names the place of its start alone, and no share of any kernel.
      op.name =
          profile_.strings.intern(fmt::format("{} {}, {} kernels", what, row.action, kernels));
      op.is_unnamed = true;
      several_kernels_ += is_program;
      op.attributes = profile_.strings.intern(fmt::format("kernels {}", row.kernels));
    } else {
      op.node = profile_.strings.intern(row.operators);
    }
    profile_.ops.push_back(op);
    return place->second;
  }

  Profile profile_;
  UnitId host_{}, nss_{};
  std::string last_action_;
  std::uint64_t several_kernels_ = 0;
  struct Started {
    std::optional<std::int64_t> begin;
    SpanId span = SpanId::none;
  };
  std::map<std::string, Started> started_;  // by job
  std::vector<StartedProgram> waited_for_;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, OpId> ops_;
};

}  // namespace

Result<Profile> read_annotated_profile(ByteSource& source) { return TableProfile().run(source); }

}  // namespace npuscope::torq
