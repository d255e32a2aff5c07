// What readers say of their numbers is what the names say that they gave them, but for what no name
// tells: levels and settings do not add up, statistics neither, and multiply-accumulates are no
// mere count.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "npuscope/formats/open.hpp"
#include "profile/names.hpp"
#include "profile/number_names.hpp"

namespace npuscope::meanings_test {
namespace {

namespace fs = std::filesystem;

bool is_traffic(NumberRole role) {
  return role >= NumberRole::ddr_read && role <= NumberRole::ddr_read_constants;
}

bool is_level(NumberRole role) {
  constexpr NumberRole levels[] = {NumberRole::vtcm_peak,      NumberRole::threads,
                                   NumberRole::program,        NumberRole::activation,
                                   NumberRole::inference,      NumberRole::stats_batch_size,
                                   NumberRole::run_batch_size, NumberRole::vtcm_size,
                                   NumberRole::hvx_threads,    NumberRole::model_nodes};
  return std::find(std::begin(levels), std::end(levels), role) != std::end(levels);
}

// Names hardly tell a share from a rate and a count.
NumberQuantity plain(NumberQuantity quantity) {
  return quantity <= NumberQuantity::hertz ? quantity : NumberQuantity::count;
}

template <class Number>
void expect_as_named(const Profile& profile, const Number& number) {
  const std::string_view name = profile.text(number.what);
  const Meaning named = number_named(number.kind, name).meaning;
  const Meaning& is = number.meaning;
  SCOPED_TRACE(name);
  // "estimate: Input Fill": its unit stands in a column of its own.
  if (!name.starts_with("estimate: ")) {
    EXPECT_EQ(stable_name(plain(is.quantity)), std::string(stable_name(plain(named.quantity))));
  }
  EXPECT_EQ(is_traffic(is.role) ? is.role : NumberRole::none,
            is_traffic(named.role) ? named.role : NumberRole::none);
  const bool no_setting =
      name != "stats level" && name != "physical core" && name != "highest VTCM byte in use";
  // "HTP op type q::ConvLayer_SpaceToDepth: cycles": a depth is no level there.
  const bool of_type = name.find(" op type ") != name.npos;
  if (is.statistic == Statistic::none && !is_level(is.role) && no_setting && !of_type) {
    EXPECT_EQ(is.additive, named.additive);
  }
  if (named.role != NumberRole::none) {
    EXPECT_EQ(is.role, named.role);
  }
}

TEST(Meanings, OfSamplesAreWhatTheNamesSay) {
  std::size_t numbers = 0;
  for (const fs::path folder :
       {NPUSCOPE_TEST_DATA "/chrome", NPUSCOPE_TEST_DATA "/qaic", NPUSCOPE_TEST_DATA "/torq",
        NPUSCOPE_SHARED_DIR "/data/qnn", NPUSCOPE_SHARED_DIR "/data/qaic",
        NPUSCOPE_SHARED_DIR "/data/sigmastar", NPUSCOPE_SHARED_DIR "/data/torq"}) {
    if (!fs::is_directory(folder)) continue;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const auto opened = open_profiles(std::array{entry.path()});
      if (!opened) continue;
      SCOPED_TRACE(entry.path().string());
      for (const Profile& profile : opened->profiles) {
        for (const Measure& measure : profile.measures) expect_as_named(profile, measure);
        for (const MeasureColumn& column : profile.spans.measures) {
          expect_as_named(profile, column);
        }
        numbers += profile.measures.size() + profile.spans.measures.size();
      }
    }
  }
  EXPECT_GT(numbers, 0u);
}

}  // namespace
}  // namespace npuscope::meanings_test
