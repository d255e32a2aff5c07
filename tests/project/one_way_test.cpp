// What has one way in the library, and the files that may have another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace npuscope::one_way_test {
namespace {

namespace fs = std::filesystem;

struct Way {
  std::vector<std::string> words;               // that a file of another way has
  std::map<std::string, std::string> may_have;  // the files that may, and why
};

const Way numbers_in_text{
    {"from_chars", "strtol", "strtoul", "strtoll", "strtoull", "strtod", "strtof", "sscanf",
     "atoi(", "atol(", "atof(", "std::stoi", "std::stol", "std::stoul", "std::stoll", "std::stoull",
     "std::stof", "std::stod"},
    {
        {"base/numbers.hpp", "take_number(), parse_number()"},
        {"formats/chrome/parse/decimal.cpp", "an exponent that does not fit becomes the limit"},
    }};

const Way json_written{
    {"append_json_escaped", "json_piece(", "class JsonWriter", "class JsonObject"},
    {
        {"base/json_writer.hpp", "JsonWriter"},
        {"base/text.hpp", "append_json_escaped()"},
        {"base/text.cpp", "append_json_escaped()"},
        {"formats/qnn/write/write_htp_graph.cpp",
         "blanks that differ between the members of one object"},
    }};

const Way trace_events_written{
    {R"("ph":")", R"("ph": ")", R"(\"ph\":\")", R"(\"ph\": \")", R"("ph": ?)", R"("ph":?)"},
    {
        {"formats/chrome/parse/event_form.hpp", "the example of an event that is read"},
        {"formats/chrome/trace_events.hpp", "TraceEvents, and the example of a style"},
        {"formats/chrome/write/event_output.hpp", "own_style"},
        {"formats/qaic/opstats/opstats_trace.hpp", "opstats_style()"},
        {"formats/qnn/write/write_text.hpp", "viewer_style()"},
        {"formats/sigmastar/write_timeline.cpp", "style"},
    }};

// glibc ends the program where it has no memory to note that a thread has one to destroy.
const Way objects_of_threads{{"thread_local"},
                             {
                                 {"base/files.cpp", "a truth value, which is not destroyed"},
                                 {"base/per_thread.hpp", "PerThread, and what it is for"},
                             }};

// Its headers take seconds to compile.
const Way command_lines_read{
    {"CLI/CLI.hpp", "CLI::"},
    {{"cli/parser/parser.cpp", "parse_line() of what flags.hpp declares"}}};

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The files below `root` that have one of the words.
std::vector<std::string> files_with(const fs::path& root, const std::vector<std::string>& words) {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    const std::string text = text_of(entry.path());
    const bool has = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      return text.find(word) != std::string::npos;
    });
    if (has) found.push_back(entry.path().lexically_relative(root).string());
  }
  return found;
}

TEST(OneWay, AnotherIsSeen) {
  const fs::path root = fs::path(testing::TempDir()) / "npuscope-one-way-test";
  fs::create_directories(root / "base");
  std::ofstream(root / "base" / "one.cpp") << "const int a = std::stoi(text);\n";
  std::ofstream(root / "base" / "two.cpp") << "const auto a = parse_number<int>(text);\n";
  const auto found = files_with(root, numbers_in_text.words);
  fs::remove_all(root);
  EXPECT_THAT(found, testing::ElementsAre("base/one.cpp"));
}

void expect_only_the_listed(const Way& way) {
  std::vector<std::string> allowed;
  for (const auto& [file, reason] : way.may_have) allowed.push_back(file);
  EXPECT_THAT(files_with(NPUSCOPE_SOURCE_DIR "/src", way.words),
              testing::UnorderedElementsAreArray(allowed));
  EXPECT_THAT(files_with(NPUSCOPE_SOURCE_DIR "/include", way.words), testing::IsEmpty());
}

// What reads and writes files is `jobs/` (and the readers below it).
TEST(OneWay, PagesAreOfNoFile) {
  const std::vector<std::string> words{
      "AtomicFile",       "MappedFile",         "fstream",
      "open_byte_source", "create_directories", "directory_iterator"};
  EXPECT_THAT(files_with(NPUSCOPE_SOURCE_DIR "/src/report", words), testing::IsEmpty());
}

// A system of another kind needs another base/, and nothing else.
TEST(OneWay, AsksTheSystem) {
  const std::vector<std::string> headers{"<unistd.h>", "<fcntl.h>",    "<sys/",       "<dlfcn.h>",
                                         "<poll.h>",   "<execinfo.h>", "<spawn.h>",   "<fnmatch.h>",
                                         "<malloc.h>", "<csignal>",    "<signal.h>",  "<dirent.h>",
                                         "<glob.h>",   "<termios.h>",  "<pthread.h>", "<sched.h>",
                                         "<pwd.h>",    "<netdb.h>",    "<arpa/",      "\"/proc/"};
  for (std::string file : files_with(NPUSCOPE_SOURCE_DIR "/src", headers)) {
    EXPECT_THAT(file, testing::StartsWith("base/"));
  }
  EXPECT_THAT(files_with(NPUSCOPE_SOURCE_DIR "/include", headers), testing::IsEmpty());
}

TEST(OneWay, ReadsTheNumbersInText) { expect_only_the_listed(numbers_in_text); }

TEST(OneWay, WritesJson) { expect_only_the_listed(json_written); }

TEST(OneWay, WritesTraceEvents) { expect_only_the_listed(trace_events_written); }

TEST(OneWay, ReadsCommandLines) { expect_only_the_listed(command_lines_read); }

TEST(OneWay, KeepsObjectsOfThreads) { expect_only_the_listed(objects_of_threads); }

}  // namespace
}  // namespace npuscope::one_way_test
