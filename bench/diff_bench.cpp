// npuscope diff of two profiles of 5 million spans each; the plain pass is over both.
#include "large_profile.hpp"
#include "measured.hpp"
#include "npuscope/analysis/compare.hpp"

namespace npuscope::bench {
namespace {

constexpr std::size_t span_count = 5'000'000;

const Profile& profile() {
  static const Profile made = large_profile(span_count);
  return made;
}

void samples_of_one(benchmark::State& state) {
  measure(state, profile(), [] { return analysis::RunSamples(profile()); });
}

void match(benchmark::State& state) {
  const analysis::OpGroups groups(profile());
  measure(state, profile(), [&] { return analysis::match_ops(groups, groups); });
}

// Everything that the command does after opening.
void diff(benchmark::State& state) {
  const Profile* sides[] = {&profile(), &profile()};
  measure(
      state, profile(),
      [&] {
        const auto samples = analysis::samples_of(sides);
        const auto comparer = analysis::Comparer::make({&samples[0], 1}, {&samples[1], 1});
        return comparer->compare({});
      },
      2);
}

BENCHMARK(samples_of_one)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(match)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(diff)->Unit(benchmark::kMillisecond)->UseManualTime();

}  // namespace
}  // namespace npuscope::bench
