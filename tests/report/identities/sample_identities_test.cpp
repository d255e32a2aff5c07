// What must hold whatever the numbers are, over every sample and runs of the reference NPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/parallel.hpp"
#include "report/identities/identities.hpp"

namespace npuscope::report::identities {
namespace {

// Where two pages mean something else by their words.
struct Exception {
  const char* identity;
  const char* sample;
  const char* reason;
};
constexpr Exception exceptions[] = {
    {"a number of an op in diff is that of ops", "kineto_cpu/kineto.json.gz",
     "steps before the first recorded one ran: diff takes all steps of a warm run, ops, units and "
     "memory those after the first, as of every run"},
    {"a number of an op in diff is that of ops", "ggml/",
     "the same: tokens before those of a decode ran"},
};

const Exception* exception_of(const std::string& broken) {
  const auto found = std::ranges::find_if(exceptions, [&](const Exception& each) {
    return broken.starts_with(each.sample) && broken.find(each.identity) != broken.npos;
  });
  return found == std::end(exceptions) ? nullptr : &*found;
}

// `identities`: some that must have been tried, so that not nothing is.
void expect_all(void (*try_it)(const Sample&, Tried&), const std::vector<std::string>& identities) {
  const std::vector<Sample>& samples = all_samples().all;
  std::vector<Tried> tried;
  for (const Sample& sample : samples) tried.emplace_back(sample.name);
  parallel_for(samples.size(), [&](std::size_t i) { try_it(samples[i], tried[i]); });
  std::map<std::string, std::size_t> counts;
  std::set<const Exception*> needed;
  for (const Tried& each : tried) {
    for (const std::string& text : each.broken()) {
      const Exception* exception = exception_of(text);
      if (exception == nullptr) ADD_FAILURE() << text;
      needed.insert(exception);
    }
    for (const auto& [identity, count] : each.counts()) counts[identity] += count;
  }
  for (const std::string& identity : identities) EXPECT_GT(counts[identity], 0u) << identity;
  for (const Exception& each : exceptions) {
    if (!all_samples().has_shared || !counts.contains(each.identity)) continue;
    EXPECT_TRUE(needed.contains(&each)) << each.sample << " keeps it now: " << each.identity;
  }
}

TEST(SampleIdentities, ThereAreSamples) {
  const Samples& samples = all_samples();
  RecordProperty("profiles", int(samples.all.size()));
  EXPECT_GE(samples.reference, 15u);
  EXPECT_GE(samples.files, samples.has_shared ? 250u : 60u);
  EXPECT_GE(samples.sets, samples.has_shared ? 5u : 0u);
  std::set<std::string> formats;
  for (const Sample& sample : samples.all) formats.insert(sample.profile().provenance.format);
  EXPECT_GE(formats.size(), samples.has_shared ? 20u : 6u);
}

TEST(SampleIdentities, TimesAddUp) {
  expect_all(
      try_times,
      {"self time <= duration", "parts of the wall are the wall", "parts that work are active",
       "inference <= wall", "busy, waiting and idle of a row are the wall", "busy <= span",
       "cells add up to busy", "busy of a class is active of it", "work of units is work",
       "busy and waiting <= wall", "domain <= active", "percentiles rise",
       "a layer of a call less the next", "self of a phase <= phase"});
}

TEST(SampleIdentities, OpsAddUp) {
  expect_all(try_ops, {"op", "active <= span of an op", "work <= active by units of an op",
                       "p50 <= p95 of an op", "rows add up to the total", "work of ops is work",
                       "parts of the model are all"});
}

TEST(SampleIdentities, PathsAddUp) {
  expect_all(try_path,
             {"work, gaps, lead and tail are the wall", "slack",
              "wall of the path is that of its inference", "nothing scaled is the observed wall"});
}

TEST(SampleIdentities, TextAndJsonAgree) {
  expect_all(try_texts, {"JSON has every value of the text", "text has the values of the JSON",
                         "values of text and JSON are the same", "a share of a page is one",
                         "one is not a plural", "nothing has no sign"});
}

TEST(SampleIdentities, PagesAgree) {
  expect_all(try_pages,
             {"shares of the wall are 1", "per cent of the wall: those of the JSON",
              "parts of the model shown are 100 %", "a section is the same on all pages",
              "wall of show is that of units", "wall of path is that of show",
              "busy, waits and idle shown are the wall", "concurrency covers the wall",
              "numbers of ops of the first page are those of ops", "shares of all ops are 1",
              "shares of the path are 1", "steps are its work"});
}

TEST(SampleIdentities, ARunBesideItself) {
  expect_all(
      try_comparison,
      {"a run has no change from itself", "no op changes beside itself",
       "diff and check have the same values", "latency of the first page is that of diff",
       "a gate measures what diff says", "a limit just above passes", "a limit just below fails"});
}

TEST(SampleIdentities, OpsAreThoseOfDiff) {
  expect_all(try_compared_ops, {"a number of an op in diff is that of ops",
                                "a gate of an op measures its row of diff"});
}

TEST(SampleIdentities, SelectedIsAsInAll) {
  expect_all(try_selection, {"a number of a selected op", "instances of a selected op",
                             "parts in a window of everything", "busy in a window of everything",
                             "busy of a unit alone", "wall of an inference alone"});
}

}  // namespace
}  // namespace npuscope::report::identities
