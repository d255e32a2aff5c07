// npuscope compile as a user runs it.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/program.hpp"

namespace npuscope::cli::compile_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Compile : public testing::Test {
 protected:
  Compile() { std::filesystem::create_directories(folder_); }
  ~Compile() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string squeezenet() { return NPUSCOPE_SOURCE_DIR "/models/light_squeezenet.onnx"; }
  static std::string content(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("npuscope-compile-" + std::to_string(::getpid()));
};

TEST_F(Compile, RefusesNumbersThatMeanNothing) {
  for (const std::string flag :
       {"-aic-num-cores=0", "-aic-num-cores=-1", "-aic-num-cores=17", "-aic-num-cores=99999999999",
        "-batchsize=0", "-batchsize=-1", "-batchsize=99999999999", "-stats-level=abc",
        "-stats-level=101", "-stats-batchsize=0", "-onnx-define-symbol=x,0"}) {
    const Outcome outcome =
        run_npuscope({"compile", "-m", squeezenet(), "-aic-binary-dir", path("out"), flag});
    EXPECT_EQ(outcome.status, 2) << flag;
    EXPECT_THAT(outcome.errors, HasSubstr(flag.substr(1, flag.find('=') - 1)));
  }
}

TEST_F(Compile, RefusesTwoValuesOfOneSymbol) {
  const Outcome outcome =
      run_npuscope({"compile", "-m", squeezenet(), "-aic-binary-dir", path("out"),
                    "-onnx-define-symbol=b,3", "-onnx-define-symbol=b,4"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.errors,
            "npuscope: -onnx-define-symbol gives 'b' the values 3 and 4; give it one\n");
}

TEST_F(Compile, RefusesASecondListOfSpecializations) {
  std::ofstream(path("s.json")) << R"({"specializations": [{"N": 1}], "specializations": []})";
  const Outcome outcome =
      run_npuscope({"compile", "-m", squeezenet(), "-aic-binary-dir", path("out"),
                    "-network-specialization-config=" + path("s.json")});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(outcome.errors, "npuscope: " + path("s.json") +
                                ": gives 'specializations' 2 times; make one list of them\n");
}

TEST_F(Compile, SaysWhyItCannotMakeItsFolder) {
  const Outcome outcome =
      run_npuscope({"compile", "-m", squeezenet(), "-aic-binary-dir=/dev/null/x"});
  EXPECT_EQ(outcome.status, 4);
  EXPECT_EQ(outcome.errors,
            "npuscope: /dev/null/x: cannot create the folder: Not a directory; choose another\n");
}

// The one operator "Relu", spelt with an escape sequence of the terminal instead.
TEST_F(Compile, NamesOutOfModelsDoNotSteerTheTerminal) {
  std::string model = content(squeezenet());
  for (std::size_t at = 0; (at = model.find("Relu", at)) != std::string::npos;) {
    model.replace(at, 4, "\x1b[2J");
  }
  std::ofstream(path("hostile.onnx"), std::ios::binary) << model;
  const Outcome outcome = run_npuscope({"compile", "-m", path("hostile.onnx"), "-aic-binary-dir",
                                        path("out"), "--allow-unknown", "-aic-perf-metrics",
                                        "-aic-perf-warnings", "-aic-num-cores=1"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.errors, HasSubstr("\\x1b[2J"));
  EXPECT_THAT(outcome.errors + outcome.output, Not(HasSubstr("\x1b")));
}

TEST_F(Compile, SaysWhyCountersAreRefused) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> requests{
      {{"-aic-pmu-events=3F,70,71,72,80,90,200,201,210"},
       "9 events; the hardware counts at most 8 at once"},
      {{"-aic-pmu-events=3F", "-aic-pmu-recipe=AxiRd"},
       "-aic-pmu-recipe and -aic-pmu-events exclude each other; give one of them"},
      {{"-aic-pmu-events=3F", "-stats-level=30"},
       "PMU events need -stats-level=40 or more, not 30"},
      {{"-aic-pmu-recipe=Luck"}, "aic100 has AxiRd, AxiRdWr, AxiWr, HmxMacs, KernelUtil"}};
  for (const auto& [flags, sentence] : requests) {
    std::vector<std::string> words{"compile", "-m", squeezenet(), "-aic-binary-dir", path("out")};
    words.insert(words.end(), flags.begin(), flags.end());
    const Outcome outcome = run_npuscope(words);
    EXPECT_EQ(outcome.status, 2) << flags[0];
    EXPECT_THAT(outcome.errors, HasSubstr(sentence));
    EXPECT_FALSE(std::filesystem::exists(path("out/programqpc.bin")));
  }
}

// A warning that could not be printed once ended the program early, with status 0.
TEST_F(Compile, GoesOnWhenNobodyReadsItsWarnings) {
  for (const std::string closed : {"2>&-", "2>/dev/full"}) {
    const Outcome outcome =
        run_npuscope({"compile", "-m", squeezenet(), "-aic-binary-dir", path("quiet"),
                      "-aic-pmu-events=DEAD", "-aic-num-cores=1"},
                     closed);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_THAT(outcome.output, HasSubstr("Generated binary is present at "));
  }
}

TEST_F(Compile, IsTheSameFromAnyFolder) {
  const std::vector<std::string> arguments{"compile", "-m", squeezenet(), "-stats-level=70"};
  const auto compile_into = [&](const std::string& name) {
    auto all = arguments;
    all.insert(all.end(), {"-aic-binary-dir", path(name)});
    return run_program_at("/usr/bin/env", [&] {
      std::vector<std::string> words{"-C", "/", npuscope_program()};
      words.insert(words.end(), all.begin(), all.end());
      if (name == "here") words.erase(words.begin(), words.begin() + 2);
      return words;
    }());
  };
  EXPECT_EQ(compile_into("here").status, 0);
  EXPECT_EQ(compile_into("there").status, 0);
  EXPECT_EQ(content(path("here/programqpc.bin")), content(path("there/programqpc.bin")));
}

}  // namespace
}  // namespace npuscope::cli::compile_test
