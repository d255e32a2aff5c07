// Which files belong together, and what keeps others apart.
#include "formats/qnn/generated_run.hpp"
#include "formats/qnn/scratch_files.hpp"

namespace npuscope::qnn::linking_test {
namespace {

using test::GeneratedRun;
using test::random_run;

class QnnLinking : public test::ScratchFiles {
 protected:
  // The messages that say why a profile stands apart, profile by profile.
  std::vector<std::string> reasons(const std::vector<File>& files) {
    const auto sets = read_sets(files);
    std::vector<std::string> out;
    if (!sets) return {sets.error().message};
    for (const Profile& profile : sets->profiles) {
      std::string reason;
      for (const Note& note : profile.notes) {
        if (note.message.find("kept apart") == std::string::npos) continue;
        reason = note.message;
        const std::string folder = path("").string();
        for (std::size_t at = 0; (at = reason.find(folder)) != reason.npos;) {
          reason.erase(at, folder.size());
        }
      }
      out.push_back(reason);
    }
    return out;
  }
};

using Reasons = std::vector<std::string>;

TEST_F(QnnLinking, RunsOfDifferentGraphsAreProfilesOfTheirOwn) {
  const GeneratedRun one = random_run(1), other = random_run(2);
  std::vector<File> files;
  for (const GeneratedRun* run : {&one, &other}) {
    files.push_back(write(run->graph + ".json", test::op_trace_of(*run)));
    files.push_back(write(run->graph + "_runtrace.json", test::run_trace_of(*run)));
    files.push_back(write(run->graph + "_htp.json", test::htp_graph_of(*run)));
    files.push_back(write(run->graph + "_qhas.json", test::qhas_of(*run)));
    files.push_back(write(run->graph + ".txt", test::viewer_text_of(*run)));
  }
  const auto sets = read_sets(files);
  ASSERT_TRUE(sets);
  ASSERT_EQ(sets->profiles.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const Profile& profile = sets->profiles[i];
    EXPECT_EQ(profile.provenance.graph, i == 0 ? one.graph : other.graph);
    EXPECT_EQ(profile.provenance.files.size(), 5u);
    EXPECT_EQ(test::outcomes(profile, Check::Outcome::failed), "");
  }
}

TEST_F(QnnLinking, GraphNamesThatDifferKeepFilesApart) {
  GeneratedRun run = random_run(1);
  const File trace = write("trace.json", test::op_trace_of(run));
  const File qhas = write("qhas.json", test::qhas_of(run));
  run.graph = "another";
  const File runs = write("run.json", test::run_trace_of(run));
  EXPECT_EQ(reasons({trace, qhas, runs}),
            (Reasons{"",
                     "kept apart from qhas.json: one is of graph 'graph_1', the other of "
                     "'another'"}));
}

TEST_F(QnnLinking, OpsOutsideEveryGraphExecuteKeepFilesApart) {
  GeneratedRun run = test::small_run();
  const File trace = write("trace.json", test::op_trace_of(run));
  for (auto& phase : run.inferences[0].phases) {
    phase.start_cycle += 1000;
    phase.end_cycle += 1000;
  }
  const File runs = write("run.json", test::run_trace_of(run));
  EXPECT_EQ(reasons({trace, runs}),
            (Reasons{"",
                     "kept apart from trace.json: ops ran from cycle 7997466066676 to "
                     "7997466066766, in none of the 1 Graph Execute phases"}));
}

TEST_F(QnnLinking, TwoRunsOfOneGraphAreKeptApartByTheirCycles) {
  GeneratedRun run = test::small_run();
  const File trace = write("trace.json", test::op_trace_of(run));
  run.base += 10;
  for (test::RunOp& op : run.ops) {
    for (test::Slice& slice : op.slices) slice.start += 10;
  }
  const File qhas = write("qhas.json", test::qhas_of(run));
  const File graph = write("graph.json", test::htp_graph_of(run));
  EXPECT_EQ(reasons({trace, qhas}),
            (Reasons{"",
                     "kept apart from trace.json: one ran from cycle 7997466066676 to "
                     "7997466066766, the other from 7997466066686 to 7997466066776"}));
  EXPECT_EQ(reasons({trace, graph}).back().substr(0, 47),
            "kept apart from trace.json: one ran from cycle ");
}

TEST_F(QnnLinking, AGraphWithOtherOpsIsKeptApart) {
  GeneratedRun run = test::small_run();
  const File trace = write("trace.json", test::op_trace_of(run));
  for (test::RunOp& op : run.ops) {
    op.id += 1;
    op.slices.clear();
  }
  const File graph = write("graph.json", test::htp_graph_of(run));
  EXPECT_EQ(reasons({trace, graph}),
            (Reasons{"", "kept apart from trace.json: of 2 and 2 op ids only 0 are the same"}));
}

TEST_F(QnnLinking, TheViewersOutputOfAnotherRunIsKeptApart) {
  GeneratedRun run = random_run(1);
  const File qhas = write("qhas.json", test::qhas_of(run));
  const File runs = write("run.json", test::run_trace_of(run));
  for (test::RunOp& op : run.ops) {
    for (test::Slice& slice : op.slices) slice.cycles += 1;
  }
  const File text = write("profile.txt", test::viewer_text_of(run));
  const Reasons found = reasons({qhas, text});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NE(found[1].find("nodes in both only 0 took the same cycles in the first execute"),
            std::string::npos)
      << found[1];
  run.inferences[0].phases[1].end_ticks += 5;
  const File other = write("other.txt", test::viewer_text_of(run));
  EXPECT_NE(reasons({runs, other}).back().find("in execute 1 acquiring VTCM took"),
            std::string::npos);
}

// The nodes of an op trace that was cut off took fewer cycles than the summary says of them.
TEST_F(QnnLinking, ASetOfWhichAFileWasCutOffIsStillOneSet) {
  const GeneratedRun run = random_run(3);
  const std::string trace = test::op_trace_of(run), graph = test::htp_graph_of(run);
  const File whole[] = {write("trace.json", trace), write("qhas.json", test::qhas_of(run)),
                        write("run.json", test::run_trace_of(run)), write("graph.json", graph),
                        write("p.txt", test::viewer_text_of(run))};
  const std::vector<File> all(std::begin(whole), std::end(whole));
  const std::size_t first_op = trace.find("\"ph\": \"X\"");
  ASSERT_NE(first_op, std::string::npos);
  for (std::size_t tenth = 1; tenth < 10; ++tenth) {
    const std::size_t kept = first_op + 2'000 + (trace.size() - first_op - 2'000) * tenth / 10;
    ASSERT_LT(kept, trace.size());
    write("trace.json", std::string_view(trace).substr(0, kept));
    EXPECT_EQ(reasons(all), Reasons{""}) << kept << " bytes of the trace";
  }
  write("trace.json", trace);
  for (std::size_t tenth = 2; tenth < 10; ++tenth) {
    write("graph.json", std::string_view(graph).substr(0, graph.size() * tenth / 10));
    EXPECT_EQ(reasons(all), Reasons{""}) << tenth << " tenths of the graph";
  }
}

TEST_F(QnnLinking, FilesThatSayNothingInCommonAreNotGuessedTogether) {
  const GeneratedRun run = test::small_run();
  std::string bare = test::run_trace_of(run);
  for (std::size_t at = 0; (at = bare.find("Graph Execute", at)) != bare.npos;) {
    bare.replace(at, 13, "Something    ");
  }
  EXPECT_EQ(reasons({write("trace.json", test::op_trace_of(run)), write("run.json", bare)}),
            (Reasons{"",
                     "kept apart from trace.json: nothing in both says that they belong "
                     "together"}));
}

TEST_F(QnnLinking, OneRunTraceOfTwoGraphsIsTwo) {
  const GeneratedRun one = random_run(1), other = random_run(2);
  std::string text = test::run_trace_of(one), second = test::run_trace_of(other);
  const std::size_t events = second.find("{ \"name\"");
  text.replace(text.rfind("]}"), 2, ",\n" + second.substr(events));
  const auto sets = read_sets(
      std::vector{write("run.json", text), write("trace.json", test::op_trace_of(other))});
  ASSERT_TRUE(sets);
  ASSERT_EQ(sets->profiles.size(), 2u);
  EXPECT_EQ(sets->profiles[0].provenance.graph, one.graph);
  EXPECT_EQ(sets->profiles[1].provenance.graph, other.graph);
  EXPECT_GT(sets->profiles[1].spans.size(), 0u);
}

TEST_F(QnnLinking, AFileThatCannotBeReadLeavesTheOthers) {
  const GeneratedRun run = test::small_run();
  const auto sets = read_sets(std::vector{
      write("qhas.json", test::qhas_of(run)), File{path("missing.json"), Kind::run_trace},
      write("empty.json", R"({"header": {"artifact_type": "QHAS"}})")});
  ASSERT_TRUE(sets);
  EXPECT_EQ(sets->profiles.size(), 1u);
  ASSERT_EQ(sets->unreadable.size(), 2u);
  EXPECT_NE(sets->unreadable[0].message.find("missing.json"), std::string::npos);
  EXPECT_NE(sets->unreadable[1].message.find("without a single row"), std::string::npos);
}

TEST_F(QnnLinking, NothingReadableIsAnError) {
  const auto sets = read_sets(std::vector{File{path("missing.json"), Kind::qhas}});
  ASSERT_FALSE(sets);
  EXPECT_EQ(sets.error().kind, ErrorKind::input);
  EXPECT_NE(sets.error().message.find("missing.json"), std::string::npos);
}

}  // namespace
}  // namespace npuscope::qnn::linking_test
