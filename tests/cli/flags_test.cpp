// One meaning a flag: the same flags for every page, "-" for every input, one vocabulary of --by.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::flags_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Flags = TraceFolder;

TEST_F(Flags, EveryPageTakesTopCsvMarkdownAndJson) {
  for (std::vector<std::string> words :
       std::vector<std::vector<std::string>>{{"show"},
                                             {"ops"},
                                             {"units"},
                                             {"timeline"},
                                             {"diagnose"},
                                             {"memory"},
                                             {"path"},
                                             {"graph"},
                                             {"latency"},
                                             {"diff"},
                                             {"query"},
                                             {"torq", "overview"},
                                             {"torq", "timeline"},
                                             {"ipu", "op-cost"},
                                             {"ipu", "info"},
                                             {"ipu", "operators"}}) {
    words.push_back("--help");
    const std::string help = run_npuscope(words).output;
    for (const char* flag : {"--top", "--csv", "--markdown", "--json", "--width"}) {
      EXPECT_THAT(help, HasSubstr(std::string("\n      ") + flag)) << words[0] << " " << words[1];
    }
  }
}

TEST_F(Flags, TopZeroIsAllRows) {
  std::string events;
  for (int i = 0; i < 60; ++i) {
    events += fmt::format(
        R"(,{{"ph":"X","pid":1,"tid":1,"ts":{},"dur":5,"name":"op{}","cat":"k"}})", 10 * i, i);
  }
  write("many.json", "{\"traceEvents\":[" + events.substr(1) + "]}");
  const Outcome all = run_npuscope({"ops", path("many.json"), "--top", "0"});
  EXPECT_THAT(all.output, HasSubstr("op59"));
  EXPECT_THAT(all.output, Not(HasSubstr(" of 60)")));
  EXPECT_THAT(run_npuscope({"ops", path("many.json")}).output, HasSubstr("(20 of 60)"));
  EXPECT_THAT(run_npuscope({"timeline", path("many.json"), "--by", "name", "--top", "0"}).output,
              HasSubstr("op59"));
  EXPECT_EQ(run_npuscope({"graph", path("many.json"), "--top", "0"}).status, 0);
}

TEST_F(Flags, MarkdownOfAPageIsTheSamePage) {
  const Outcome outcome = run_npuscope({"ops", path("trace.json"), "--markdown"});
  EXPECT_THAT(outcome.output, StartsWith("# "));
  EXPECT_THAT(outcome.output, HasSubstr("\n| op | kind |"));
  EXPECT_THAT(outcome.output, HasSubstr("\n| matmul | matrix | thread | 1 | 50.00 us |"));
  EXPECT_EQ(run_npuscope({"ops", path("trace.json"), "--markdown", "--json"}).status, 2);
  const Outcome query = run_npuscope(
      {"query", path("trace.json"), "select name, kind from ops order by name", "--markdown"});
  EXPECT_EQ(query.output, "| name | kind |\n|---|---|\n| matmul | matrix |\n| step | user |\n");
}

TEST_F(Flags, ADashIsStandardInputWhereAFileIsRead) {
  for (const std::string command : {"show", "ops", "units", "timeline", "path"}) {
    const Outcome file = run_npuscope({command, path("trace.json"), "--json"});
    for (const std::string& input : {"< " + path("trace.json"), std::string()}) {
      const Outcome piped =
          input.empty()
              ? run_program_at("/bin/sh", {"-c", "cat \"$1\" | \"$2\" \"$3\" - --json", "sh",
                                           path("trace.json"), npuscope_program(), command})
              : run_npuscope({command, "-", "--json"}, input);
      EXPECT_EQ(piped.status, 0) << command << piped.errors;
      std::string expected = file.output;
      const std::string name = path("trace.json");
      for (std::size_t at; (at = expected.find(name)) != expected.npos;) {
        expected.replace(at, name.size(), "standard input");
      }
      EXPECT_EQ(piped.output, expected) << command;
    }
  }
}

TEST_F(Flags, ADashIsCalledStandardInputInErrorsAndTypedAgainAsADash) {
  const std::string pipe = "< " + path("trace.json");
  for (const std::string command :
       {"show", "diagnose", "ops", "units", "path", "memory", "graph", "latency", "timeline",
        "qpc list", "torq annotate", "compile"}) {
    const std::size_t blank = command.find(' ');
    std::vector<std::string> words{command.substr(0, blank)};
    if (blank != command.npos) words.push_back(command.substr(blank + 1));
    words.push_back(command == "compile" ? "--model=-" : "-");
    const Outcome outcome = run_npuscope(words, pipe);
    EXPECT_THAT(outcome.output + outcome.errors, Not(HasSubstr("/dev/stdin"))) << command;
  }
  EXPECT_THAT(run_npuscope({"show", "-"}, pipe).output, HasSubstr("npuscope show - --full\n"));
  EXPECT_EQ(run_npuscope({"show", "-"}, "< /dev/zero").errors,
            "npuscope: -: standard input is a folder or device; pipe a file into the command\n");
}

TEST_F(Flags, ADashIsNoFolder) {
  const Outcome outcome =
      run_npuscope({"opstats", "-q", "x.bin", "-i", "-", "--summary"}, "< /dev/null");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("standard input, which is one file; name a folder"));
  const Outcome device = run_npuscope({"show", "-"}, "< /dev/null");
  EXPECT_EQ(device.status, 3);
  EXPECT_THAT(device.errors, HasSubstr("standard input is a folder or device; pipe a file"));
}

TEST_F(Flags, FromAndToAreTimesAndFormatIsTheFormat) {
  const std::vector<std::string> window{"--from", "10us", "--to", "60us", "-o", "-"};
  auto with = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"convert", path("trace.json")});
    words.insert(words.end(), window.begin(), window.end());
    return run_npuscope(words);
  };
  const Outcome outcome = with({"--format", "csv"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("matmul"));
  EXPECT_EQ(with({"--to", "csv"}).output, outcome.output);  // as before
  EXPECT_THAT(run_npuscope({"convert", path("trace.json"), "-o", "x.unknown"}).errors,
              HasSubstr("--format is missing"));
  EXPECT_THAT(run_npuscope({"convert", path("trace.json"), "--format", "crome", "-o", "x"}).errors,
              HasSubstr("use chrome"));
}

TEST_F(Flags, AWordOfByMeansTheSameInEveryCommand) {
  const auto by = [&](const char* command, const char* word) {
    return run_npuscope({command, path("trace.json"), "--by", word});
  };
  EXPECT_EQ(by("timeline", "layer").output, by("timeline", "stage").output);  // the old word
  EXPECT_EQ(by("timeline", "name").output, by("timeline", "op").output);
  EXPECT_EQ(by("ops", "layer").status, 0);
  EXPECT_EQ(by("ops", "name").status, 0);
  EXPECT_THAT(by("ops", "layr").errors,
              HasSubstr("'layr' is unknown (did you mean 'layer'?); use"));
  EXPECT_THAT(by("units", "kind").errors,
              HasSubstr("--by: 'kind' is unknown; use unit, core, engine, device"));
}

TEST_F(Flags, AFlagWithoutEffectSaysSo) {
  EXPECT_THAT(run_npuscope({"timeline", path("trace.json"), "--svg-width", "300"}).errors,
              HasSubstr("note: --svg-width has no effect without --svg"));
  EXPECT_EQ(run_npuscope({"ops", path("trace.json"), "--top", "3"}).errors, "");
  EXPECT_EQ(run_npuscope({"ops", path("trace.json"), "--width", "80", "--json"}).errors,
            "npuscope: note: --width has no effect with --json\n");
  EXPECT_EQ(run_npuscope({"show", path("trace.json"), "--full", "--csv"}).errors,
            "npuscope: note: --full has no effect with --csv\n");
  EXPECT_EQ(run_npuscope({"timeline", path("trace.json"), "--ascii", "--json"}).errors,
            "npuscope: note: --ascii has no effect with --json\n");
  EXPECT_EQ(run_npuscope({"report", path("trace.json"), "-o", path("r.html"), "--json"}).errors,
            "npuscope: note: --output has no effect with --json\n");
}

// --- query ---

TEST_F(Flags, QueryTakesItsTextAfterTheFiles) {
  const Outcome outcome =
      run_npuscope({"query", path("trace.json"), "SELECT count(*) AS n FROM ops"});
  EXPECT_EQ(outcome.output, "n\n2\n") << outcome.errors;
  EXPECT_EQ(
      run_npuscope({"query", path("trace.json"), "--sql", "SELECT count(*) AS n FROM ops"}).output,
      outcome.output);
}

TEST_F(Flags, TheShellOfQueryGoesOnAfterAnError) {
  write("lines.sql",
        "select count(*) as n\n  from ops;\nselect wat from ops;\n.tables\n.wat\n"
        ".schema phases\n.quit\nselect 7;\n");
  const Outcome outcome = run_npuscope({"query", path("trace.json")}, "< " + path("lines.sql"));
  EXPECT_THAT(outcome.output, StartsWith("n\n2\nspans\nops\n"));
  EXPECT_THAT(outcome.output, HasSubstr("\nphases: "));
  EXPECT_THAT(outcome.output, Not(HasSubstr("7\n7")));
  EXPECT_THAT(outcome.errors, HasSubstr("no such column: wat"));
  EXPECT_THAT(outcome.errors, HasSubstr("unknown command '.wat'; .help lists them"));
  EXPECT_EQ(outcome.status, 2);  // of a pipe, that of the last error
}

TEST_F(Flags, TheShellRunsAStatementThatTheEndOfTheInputCutsOff) {
  write("lines.sql", "select ';' as text");
  const Outcome outcome = run_npuscope({"query", path("trace.json")}, "< " + path("lines.sql"));
  EXPECT_EQ(outcome.output, "text\n;\n");
  EXPECT_EQ(outcome.status, 0);
}

// --- did you mean ---

TEST_F(Flags, ARefusedNameIsAnsweredWithTheOneThatMayBeMeant) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"ops", path("trace.json"), "--op", "matmull"}, "matmul"},
      {{"ops", path("trace.json"), "--columns", "activ"}, "active"},
      {{"ops", path("trace.json"), "--sort", "wrok"}, "work"},
      {{"ops", path("trace.json"), "--rules", "transfomer"}, "transformer"},
      {{"ops", path("trace.json"), "--csv", "--table", "opps"}, "ops"},
      {{"units", path("trace.json"), "--color", "alwais"}, "always"},
      {{"show", path("trace.json"), "--section", "untis"}, "units"},
      {{"show", path("trace.json"), "--target", "htq-v75"}, "htp-v75"},
      {{"diagnose", "--explain", "host-bounds"}, "host-bound"},
      {{"convert", path("trace.json"), "--format", "perfeto", "-o", "x"}, "perfetto"},
  };
  for (const auto& [words, meant] : cases) {
    const Outcome outcome = run_npuscope(words);
    EXPECT_EQ(outcome.status, 2) << outcome.errors;
    EXPECT_THAT(outcome.errors, HasSubstr("(did you mean '" + meant + "'?)"));
  }
  EXPECT_THAT(run_npuscope_model({"amber-7"}).errors, HasSubstr("(did you mean 'amber-7b'?)"));
}

// --- target ---

TEST_F(Flags, TheTargetIsRememberedFlagBeforeEnvironmentBeforeFile) {
  std::filesystem::create_directories(folder_ / "npuscope");
  write("npuscope/config.toml", "target = \"no-such-file\"\n");
  const auto memory = [&](const std::string& environment, const std::vector<std::string>& flags) {
    std::vector<std::string> words{
        "-c",
        "XDG_CONFIG_HOME=\"$1\"; " + environment + " export XDG_CONFIG_HOME; shift; exec \"$@\"",
        "sh",
        folder_.string(),
        npuscope_program(),
        "memory",
        path("trace.json")};
    words.insert(words.end(), flags.begin(), flags.end());
    return run_program_at("/bin/sh", words).errors;
  };
  EXPECT_THAT(memory("", {}), HasSubstr("target 'no-such-file' is not built in"));
  EXPECT_THAT(memory("NPUSCOPE_TARGET=no-such-variable; export NPUSCOPE_TARGET;", {}),
              HasSubstr("target 'no-such-variable' is not built in"));
  EXPECT_THAT(memory("NPUSCOPE_TARGET=no-such-variable; export NPUSCOPE_TARGET;",
                     {"--target", "no-such-flag"}),
              HasSubstr("target 'no-such-flag' is not built in"));
  EXPECT_THAT(memory("", {"--target", "aic100"}), Not(HasSubstr("is not built in")));
  write("npuscope/config.toml", "tarket = \"aic100\"\n");
  EXPECT_THAT(
      memory("", {}),
      HasSubstr("config.toml:1: 'tarket' is unknown (did you mean 'target'?); the only key here "
                "is target"));
}

}  // namespace
}  // namespace npuscope::cli::flags_test
