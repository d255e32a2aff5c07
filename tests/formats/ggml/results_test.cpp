#include "formats/ggml/results.hpp"

#include <gmock/gmock.h>

namespace npuscope::ggml::results_test {
namespace {

TEST(Results, TimesOfAContextAreTheLastOnes) {
  Results results;
  EXPECT_TRUE(
      results.take("llama_perf_context_print: prompt eval time =       2.70 ms /    32 "
                   "tokens (    0.08 ms per token, 11855.42 tokens per second)"));
  EXPECT_TRUE(
      results.take("0.01.2 I common_perf_print:        eval time =       1.73 ms /     2 "
                   "runs   (    0.86 ms per token,  1159.29 tokens per second)"));
  // The rate has more digits than the time.
  EXPECT_DOUBLE_EQ(results.prompt.milliseconds, 32 / 11855.42 * 1e3);
  EXPECT_EQ(results.prompt.tokens, 32);
  EXPECT_DOUBLE_EQ(results.decode.milliseconds, 2 / 1159.29 * 1e3);
  EXPECT_EQ(results.decode.tokens, 2);
  results.take("common_perf_print:        eval time =       0.00 ms /     1 runs");
  EXPECT_EQ(results.decode.tokens, 0);
}

TEST(Results, TimesOfAServersRequestsAddUp) {
  Results results;
  for (int i = 0; i < 3; ++i) results.take("       eval time =     100.00 ms /     8 tokens (…)");
  EXPECT_EQ(results.decode.milliseconds, 300);
  EXPECT_EQ(results.decode.tokens, 24);
}

TEST(Results, OfLlamaBench) {
  Results results;
  for (const char* line :
       {"| model | size | params | backend | ngl | test | t/s |",
        "| ----- | ---: | -----: | ------- | --: | ---: | --: |",
        "| llama 1B Q4_0 | 729 MiB | 1.24 B | HTP | 99 | pp512 | 512.34 \xc2\xb1 3.21 |",
        "| llama 1B Q4_0 | 729 MiB | 1.24 B | HTP | 99 | tg128 @ d4096 | 23.40 \xc2\xb1 0.10 |"}) {
    results.take(line);
  }
  ASSERT_EQ(results.bench.rows().size(), 2u);
  EXPECT_EQ(results.bench.rows()[0].test, "pp512");
  EXPECT_EQ(results.bench.rows()[0].tokens_per_second, 512.34);
  EXPECT_EQ(results.bench.rows()[0].deviation, 3.21);
  EXPECT_EQ(results.bench.rows()[1].test, "tg128 @ d4096");
}

TEST(Results, OfLlamaBenchAsCsv) {
  Results results;
  results.take("build_commit,n_prompt,n_gen,n_depth,avg_ts,stddev_ts");
  results.take("\"abc\",\"512\",\"0\",\"0\",\"250.5\",\"1.5\"");
  ASSERT_EQ(results.bench.rows().size(), 1u);
  EXPECT_EQ(results.bench.rows()[0].test, "pp512");
  EXPECT_EQ(results.bench.rows()[0].tokens_per_second, 250.5);
}

TEST(Results, OfLlamaBenchAsCsvWithCommasInCells) {
  Results results;
  results.take("build_commit,cpu_info,n_prompt,n_gen,n_depth,avg_ts,stddev_ts");
  results.take("\"abc\",\"Oryon, 8 cores\",\"0\",\"128\",\"0\",\"23.5\",\"0.5\"");
  ASSERT_EQ(results.bench.rows().size(), 1u);
  EXPECT_EQ(results.bench.rows()[0].test, "tg128");
  EXPECT_EQ(results.bench.rows()[0].tokens_per_second, 23.5);
}

// Keys on lines of their own, arrays of samples between them.
TEST(Results, OfLlamaBenchAsJson) {
  Results results;
  for (const char* line : {"[",
                           "  {",
                           "    \"build_commit\": \"abc\",",
                           "    \"cpu_info\": \"Oryon, {8} \\\"cores\",",
                           "    \"n_prompt\": 512,",
                           "    \"n_gen\": 0,",
                           "    \"n_depth\": 4096,",
                           "    \"avg_ns\": 2043000000,",
                           "    \"avg_ts\": 250.500000,",
                           "    \"stddev_ts\": 1.250000,",
                           "    \"samples_ns\": [ 2043000000, 2044000000 ],",
                           "    \"samples_ts\": [ 250.6, 250.4 ]",
                           "  },",
                           "  {",
                           "    \"build_commit\": \"abc\",",
                           "    \"n_prompt\": 0,",
                           "    \"n_gen\": 128,",
                           "    \"avg_ts\": 23.5,",
                           "    \"stddev_ts\": 0.5",
                           "  }",
                           "]"}) {
    results.take(line);
  }
  const auto& rows = results.bench.rows();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].test, "pp512 @ d4096");
  EXPECT_EQ(rows[0].tokens_per_second, 250.5);
  EXPECT_EQ(rows[0].deviation, 1.25);
  EXPECT_EQ(rows[1].test, "tg128");
  EXPECT_EQ(rows[1].deviation, 0.5);
}

TEST(Results, OfLlamaBenchAsJsonLines) {
  Results results;
  EXPECT_TRUE(results.take(
      "{\"build_commit\": \"abc\", \"model_filename\": \"a}.gguf\", \"n_prompt\": 512, "
      "\"n_gen\": 16, \"n_depth\": 0, \"avg_ts\": 99.5, \"stddev_ts\": 2, "
      "\"samples_ts\": [ 99.4, 99.6 ]}"));
  results.take("{\"build_commit\": \"abc\", \"n_prompt\": 512");  // cut
  ASSERT_EQ(results.bench.rows().size(), 1u);
  EXPECT_EQ(results.bench.rows()[0].test, "pp512+tg16");
  EXPECT_EQ(results.bench.rows()[0].tokens_per_second, 99.5);
  EXPECT_TRUE(
      BenchTable::is_head("[\n  {\n    \"build_commit\": \"abc\",\n    \"n_prompt\": 512,"));
  EXPECT_FALSE(BenchTable::is_head("[{\"name\": \"n_prompt\"}]"));
}

// What it calls GB/s are GiB/s.
TEST(Results, OfTestBackendOps) {
  Results results;
  results.take(
      "  MUL_MAT(type_a=q4_0,m=4096,n=1):    852 runs -  1184.56 us/run - 33.55 MFLOP/run - "
      " 28.33 GFLOPS");
  results.take("  CPY(type=f32):  100 runs -  10.00 us/run -  2048 kB/run -  2.00 GB/s");
  ASSERT_EQ(results.backend_ops.size(), 2u);
  EXPECT_EQ(results.backend_ops[0].name, "MUL_MAT(type_a=q4_0,m=4096,n=1)");
  EXPECT_EQ(results.backend_ops[0].microseconds, 1184.56);
  EXPECT_DOUBLE_EQ(results.backend_ops[0].rate, 28.33e9);
  EXPECT_TRUE(results.backend_ops[1].is_of_bytes);
  EXPECT_DOUBLE_EQ(results.backend_ops[1].rate, 2 * 1073741824.0);
}

}  // namespace
}  // namespace npuscope::ggml::results_test
