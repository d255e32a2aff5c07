// What rules look at beyond the analysis of the profile: kernels by sort, and what would be gained.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/answers.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

// The words of an advice. What a user can do differs by architecture: there is no VTCM in a
// SigmaStar IPU, and nobody slices its kernels over threads. Words of one vendor's hardware (VTCM,
// HVX, burst profiles) are said of that vendor's profiles only.
//
//   finding.advice = context.words({.usual = "… tensors that stay in VTCM are not read twice.",
//                                   .sigmastar_ipu = "… fused operators hand their results on …"});

// Whose words are right.
enum class Vocabulary : std::uint8_t { usual, sigmastar_ipu, neutral };

// The usual ones are Hexagon's.
Vocabulary vocabulary_of(Provenance::Platform platform);

struct Wording {
  const char* usual;
  const char* sigmastar_ipu = nullptr;  // none: the usual words are right there too
  const char* neutral = nullptr;        // of hardware that the trace does not name; as above

  const char* in(Vocabulary vocabulary) const {
    const char* other = vocabulary == Vocabulary::sigmastar_ipu ? sigmastar_ipu
                        : vocabulary == Vocabulary::neutral     ? neutral
                                                                : nullptr;
    return other != nullptr ? other : usual;
  }
};

// A sort of kernels, by rules/kernels.toml, or one kernel: what it took.
struct KernelTime {
  std::string name;
  std::uint64_t runs = 0;
  double time = 0;   // active of spans, else what the file tells of ops
  double share = 0;  // of the wall, else of that of all ops
  MeasureKind kind = MeasureKind::active;
  ClockId clock{};
};

class FindingContext {
 public:
  FindingContext(const Analysis& analysis, const DiagnoseOptions& options)
      : analysis_(analysis), profile_(analysis.profile()), options_(options) {}

  const Analysis& analysis() const { return analysis_; }
  const Profile& profile() const { return profile_; }
  const Peaks& peaks() const { return options_.peaks; }
  bool wants_places() const { return options_.places; }
  // An advice in the words of the profile's architecture.
  const char* words(const Wording& wording) const {
    return wording.in(vocabulary_of(profile_.provenance.platform));
  }

  // The whole run under its peaks, where anything says what it moved.
  const Placement& placement();
  const OpTable& kinds();         // by kernel: engines, units and cores, without runs
  const OpTable& active_kinds();  // the same with active, which takes as long and few rules look at
  const OpTable& kernels();       // by rules/kernels.toml
  // By op, its rule of rules/kernels.toml as in kernel_rules().
  const std::vector<std::uint32_t>& kernel_of();

  // Numbers of the run that have a role.
  const std::vector<NumberRow>& numbers();

  // Computes what most rules ask for, side by side; worth it on a large profile of which all rules
  // are tried.
  void prepare();
  // The same of those that ask for the path, next to which spans by op would take most memory.
  void prepare_path();

  // Whether units of the NPU worked on a timeline.
  bool has_timeline();
  // What the profile lacks where they did not.
  std::string no_timeline();
  double wall() { return double(analysis_.coarse().wall); }
  // Whether all that the timeline shows is a cold inference.
  bool is_cold();
  // Vector threads of one core: as many as the file says were used, at least those in the trace.
  double hvx_threads();
  // Busiest unit of a class; 0 where none worked.
  double domain(Engine engine);
  double domain_share(Engine engine) { return wall() > 0 ? domain(engine) / wall() : 0; }
  // In which any unit of the class worked, of the wall: what timelines draw.
  double active_share(Engine engine);
  double part(Part part) { return double(analysis_.coarse().parts[std::size_t(part)]); }

  // Whether anything tells how much of the bandwidth is used: transfers with times, or the DDR's
  // peak beside its bytes.
  bool knows_bandwidth();
  std::string why_no_bandwidth();

  // Ops of the rules of these names, as one table row each; empty where none ran.
  std::vector<KernelTime> kernel_times(const std::vector<std::string_view>& names);
  // Whether an op is of one of them.
  std::vector<bool> ops_of(const std::vector<std::string_view>& names);

  // What the wall of the inference nearest the median loses when each op takes such a part of its
  // time, by longest path, for several sets of factors; none where there is no such path. `how`
  // completes "by longest path: …".
  struct TriedFactors {
    std::vector<double> of_op;
    std::string how;
  };
  std::vector<std::optional<Gain>> gains_if(std::vector<TriedFactors> tried);
  // The same when executions of the two engines wait for one another for data only.
  std::optional<Gain> gain_of_overlap(Engine a, Engine b, const std::string& how);
  // A part of the wall, or of `wall` where that is not the timeline's.
  std::optional<Gain> gain_of_wall(double ticks, const std::string& how,
                                   std::optional<double> wall = {});
  // The same, but no more than what the busiest unit leaves: it must still do its work.
  std::optional<Gain> gain_by_hiding(double ticks, const std::string& how);
  // For a finding that gains_if() cannot tell.
  std::string why_no_path();

  // The model of the critical path; none where the profile has no work with times.
  const PathAnalysis* path();

 private:
  OpTable table_of_kinds(bool active_and_span) const;
  std::optional<Gain> gain_of_path(double after, const std::string& how);
  void relate_to_call(Gain& gain, std::optional<double> warm_ticks);
  std::optional<double> warm_ticks_of(const std::vector<double>& factors);

  const Analysis& analysis_;
  const Profile& profile_;
  const DiagnoseOptions& options_;
  std::shared_ptr<const OpSpansInGroups> spans_by_op_;  // held for rules that ask no path
  Lazy<Placement> placement_;
  Lazy<OpTable> kinds_, active_kinds_, kernels_;
  Lazy<std::vector<std::uint32_t>> kernel_of_;
  Lazy<std::vector<NumberRow>> numbers_;
  Lazy<double> path_wall_;  // by the model, nothing changed
};

// The rules of rules/kernels.toml.
const Rules& kernel_rules();

}  // namespace npuscope::analysis
