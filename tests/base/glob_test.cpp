#include "base/glob.hpp"

#include <gtest/gtest.h>

namespace npuscope::glob_test {
namespace {

TEST(Glob, MatchesAsAShellDoes) {
  EXPECT_TRUE(matches_glob("net.bin", "net.bin"));
  EXPECT_TRUE(matches_glob("outer/net.bin", "*.bin"));
  EXPECT_TRUE(matches_glob("net1.bin", "net[0-9].???"));
  EXPECT_FALSE(matches_glob("net.bin", "net"));
  EXPECT_FALSE(matches_glob("net.bin", "*.txt"));
  EXPECT_TRUE(matches_glob("a*b", "a\\*b"));
  EXPECT_FALSE(matches_glob("axb", "a\\*b"));
}

}  // namespace
}  // namespace npuscope::glob_test
