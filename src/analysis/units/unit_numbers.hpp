// What a file says itself about its units, as a table: one row a unit, one column a kind of number.
// Of summaries without a timeline it is all that is known of them.
//
//   const UnitNumbers table = analyse_unit_numbers(profile);
//   table.columns[0].name      // "inference": what the frames of whole inferences took
//   table.columns[3].name      // "utilization percent", as the file has it
//   for (const UnitNumber& number : table.row(0)) … number.column, number.value
//
// Where a number is there for several inferences, the median of all but the first counts.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "npuscope/analysis/traffic.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

struct UnitNumberColumn {
  std::string name;
  MeasureKind kind = MeasureKind::count;
  Origin origin = Origin::measured;
  Meaning meaning{};
  ClockId clock{};  // meaningful unless kind is count

  bool is_utilization() const {
    return meaning.role == NumberRole::utilization ||
           meaning.role == NumberRole::utilization_with_waits;
  }
};

struct UnitNumber {
  UnitId unit = UnitId::none;
  std::uint32_t column = 0;
  double value = 0;
};

struct UnitNumbers {
  // First "inference", "processor cycles" and "effective frequency (Hz)" of the units' frames, then
  // how busy they were, then the rest in the profile's order.
  std::vector<UnitNumberColumn> columns;
  std::vector<UnitNumber> numbers;      // by unit, then column; only what is known
  std::vector<std::uint32_t> first_of;  // of each row in `numbers`, and the end
  std::uint64_t columns_left = 0;       // beyond the most that a table takes (64)

  std::size_t row_count() const { return first_of.empty() ? 0 : first_of.size() - 1; }
  std::span<const UnitNumber> row(std::size_t i) const {
    return std::span(numbers).subspan(first_of[i], first_of[i + 1] - first_of[i]);
  }
};

UnitNumbers analyse_unit_numbers(const Profile& profile);

// Numbers of traffic that units tell, without counting what is part of another's number.

// Which units have a number of their own for which traffic. A unit's number includes those of its
// parts, and a device's those of everything that uses its memory, the host with its ports too.
class UnitsWithTraffic {
 public:
  UnitsWithTraffic(const Profile& profile, bool needed);

  // Whether the traffic of this unit is part of another unit's number.
  bool include(UnitId id, Route route) const;

 private:
  const Profile& profile_;
  std::set<std::pair<std::uint32_t, Route>> units_, devices_;
};

// How fast the cores' clock was while a program ran: cycles by time, as far as files have both.
//
//   clock_of_phases(profile).hertz     // {{0, 0.806e9}, {1, 1.88e9}}: inference 0 was cold
//   clock_of_units(numbers)            // 1.31e9, the median of the units' inferences

// What the cores' clocks ran at during each inference: a governor may slow them down, and the first
// inference may find them at another frequency than the others.
//
//   for (const InferenceClock& clock : analyse_clocks(profile)) …
//   clock.inference, clock.min_hertz, clock.max_hertz   // 100, 1233.12e6, 1243.97e6
//
// Of a core: its cycles by its time, both of the thread that has most, as the vendor's summary does
// ("c0: Effective frequency is 1233.12MHz").
struct InferenceClock {
  std::uint32_t inference = every_instance;
  std::uint32_t cores = 0;
  double min_hertz = 0;  // over the cores
  double max_hertz = 0;
};

// By inference; none where the profile has no cycles of whole inferences, or where its base clock
// counts those cycles itself.
std::vector<InferenceClock> analyse_clocks(const Profile& profile);

struct PhaseClock {
  std::string phase;
  std::vector<std::pair<std::uint32_t, double>> hertz;  // by inference, in their order
};

// Of the phase of the graph itself; the others wait for resources at any clock.
PhaseClock clock_of_phases(const Profile& profile);

// The median of what the units' cycles and times make.
std::optional<double> clock_of_units(const UnitNumbers& numbers);

// In Hz, what the cores' clock was during the run: of inferences, else of phases, each but the
// first where there are several, else a clock of cycles whose rate the file tells next to times,
// else samples of a frequency. None where the file has none of these.
std::optional<double> clock_during_run(const Profile& profile);

}  // namespace npuscope::analysis
