#include "npuscope/formats/open.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "base/compressed.hpp"
#include "formats/qaic/opstats/opstats_summary.hpp"
#include "formats/qaic/opstats/opstats_trace.hpp"
#include "formats/qaic/qpc/qpc.hpp"
#include "formats/qaic/stats/random_buffer.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"
#include "formats/sigmastar/model.hpp"
#include "formats/sigmastar/samples.hpp"

namespace npuscope::open_test {
namespace {

namespace fs = std::filesystem;
using qaic::test_support::make_random_case;
using qaic::test_support::RandomCase;
using test::gzip;
using test::zstd;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr std::string_view chrome_json =
    R"([{"name": "matmul", "ph": "X", "pid": 1, "tid": 2, "ts": 1, "dur": 2}])";
constexpr std::string_view runner_log =
    " ---- Stats ----\nInferenceCnt 7 TotalDuration 5us BatchSize 1 Inf/Sec 2.000\n";

class OpenProfiles : public ::testing::Test {
 protected:
  OpenProfiles() {
    folder_ = fs::path(::testing::TempDir()) / ("open_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  ~OpenProfiles() override {
    std::error_code ignored;
    for (auto entry = fs::recursive_directory_iterator(folder_, ignored);
         !ignored && entry != fs::recursive_directory_iterator(); entry.increment(ignored)) {
      if (entry->is_directory(ignored))
        fs::permissions(entry->path(), fs::perms::owner_all, ignored);
    }
    fs::remove_all(folder_, ignored);
  }

  fs::path put(const std::string& name, std::string_view text) {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  fs::path put(const std::string& name, const std::vector<std::byte>& bytes) {
    return put(name, as_text(bytes));
  }
  fs::path put_program(const std::string& name, const RandomCase& random) {
    return put(
        name, *qaic::write_qpc({{"constantsdesc.bin", std::vector<std::byte>(24), 0},
                                {"networkdesc.bin", write_network_descriptor(random.descriptor), 0},
                                {"npuscope.program.bin", write_program(random.program), 0}}));
  }

  Opened open(const std::vector<fs::path>& paths) {
    auto opened = open_profiles(paths);
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? std::move(*opened) : Opened{};
  }
  // "format file file …" of each profile, files without their folder.
  std::vector<std::string> formats_of(const Opened& opened) const {
    std::vector<std::string> lines;
    for (const Profile& profile : opened.profiles) {
      std::string line = profile.provenance.format + ":";
      for (const std::string& file : profile.provenance.files) line += " " + short_name(file);
      lines.push_back(line);
    }
    return lines;
  }
  // "severity file: message".
  std::vector<std::string> notes_of(const Opened& opened) const {
    std::vector<std::string> lines;
    for (const Note& note : opened.notes) {
      constexpr std::string_view severities[] = {"info", "warning", "error"};
      std::string message = note.message;
      const std::string place = folder_.string() + "/";
      if (const auto at = message.find(place); at != message.npos) message.erase(at, place.size());
      lines.push_back(fmt::format("{} {}: {}", severities[std::size_t(note.severity)],
                                  short_name(note.file), message));
    }
    return lines;
  }
  std::string error_of(const std::vector<fs::path>& paths) {
    const auto opened = open_profiles(paths);
    EXPECT_FALSE(opened);
    if (!opened) {
      EXPECT_EQ(opened.error().kind, ErrorKind::input);
    }
    std::string message = opened ? "" : opened.error().message;
    const std::string prefix = folder_.string() + "/";
    for (auto at = message.find(prefix); at != message.npos; at = message.find(prefix)) {
      message.erase(at, prefix.size());
    }
    return message;
  }

  std::string short_name(const std::string& file) const {
    const std::string prefix = folder_.string() + "/";
    return file.starts_with(prefix) ? file.substr(prefix.size()) : file;
  }

  fs::path folder_;
};

// XLA's profiler cuts a trace at a million events, of which the file says nothing.
TEST_F(OpenProfiles, ATraceThatXlaCutWasReadAsAWholeRun) {
  const auto notes_of_trace = [&](int events, std::string_view metadata) {
    std::string text =
        fmt::format(R"({{"displayTimeUnit":"ns","metadata":{},"traceEvents":[)", metadata);
    text += R"({"ph":"M","pid":1,"name":"process_name","args":{"name":"/host:CPU"}},)";
    for (int event = 0; event < events; ++event) text += R"({"ph":"X","ts":1,"dur":1},)";
    const Opened opened = open({put("vm.trace.json", text + "{}]}")});
    std::string warnings;
    for (const Note& note : opened.profiles.at(0).notes) {
      if (note.severity == Severity::warning) warnings += note.message;
    }
    return warnings;
  };
  constexpr std::string_view of_xla = R"({"highres-ticks":true})";
  EXPECT_THAT(notes_of_trace(1'000'000, of_xla), StartsWith("exactly 1,000,000 events, where XLA"));
  EXPECT_THAT(notes_of_trace(999'999, of_xla), IsEmpty());
  EXPECT_THAT(notes_of_trace(1'000'000, R"({"highres-ticks":false})"), IsEmpty());
}

// convert keeps the vendors' arguments; its times are microseconds all the same.
TEST_F(OpenProfiles, TakesAnExportOfAnOptraceForATraceInMicroseconds) {
  const auto file = put("export.json", R"({"displayTimeUnit":"ns","otherData":{"writer":"npuscope"},
"traceEvents":[{"name":"q::Conv","ph":"X","pid":0,"tid":1,"ts":1000.5,"dur":2,
"args":{"HTP Op Type":"q::Conv","Dominant Path Cycles":5}}]})");
  const auto opened = open_profiles(std::span(&file, 1));
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_EQ(opened->profiles.size(), 1u);
  EXPECT_EQ(opened->profiles[0].provenance.format, "Chrome trace");
  EXPECT_THAT(opened->profiles[0].spans.duration, ElementsAre(2000));
}

TEST_F(OpenProfiles, TakesAnExportOfAnOperatorTraceForATraceInMicroseconds) {
  const auto file = put("export.json", R"({"displayTimeUnit":"ns","otherData":{"writer":"npuscope"},
"traceEvents":[{"name":"aicadd","ph":"X","pid":0,"tid":1,"ts":1000.5,"dur":2,
"args":{"opKind":"aicadd","opUCycle":"38"}}]})");
  const auto opened = open_profiles(std::span(&file, 1));
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_EQ(opened->profiles.size(), 1u);
  EXPECT_EQ(opened->profiles[0].provenance.format, "Chrome trace");
  EXPECT_THAT(opened->profiles[0].spans.duration, ElementsAre(2000));
}

TEST_F(OpenProfiles, KnowsFormatsByContentNotByName) {
  const Opened opened = open({put("a.bin", chrome_json), put("b.json", runner_log)});
  EXPECT_THAT(formats_of(opened),
              ElementsAre("Chrome trace: a.bin", "Cloud AI 100 runner log: b.json"));
  EXPECT_THAT(opened.notes, IsEmpty());
}

TEST_F(OpenProfiles, OpensCompressedFilesLikePlainOnes) {
  const RandomCase random = make_random_case({});
  const Opened opened =
      open({put("a.json.gz", gzip(chrome_json)), put("b.txt.zst", zstd(runner_log)),
            put("c.zst", zstd(as_text(random.bytes()))), put_program("programqpc.bin", random)});
  EXPECT_THAT(formats_of(opened),
              ElementsAre("Chrome trace: a.json.gz", "Cloud AI 100 runner log: b.txt.zst",
                          "Cloud AI 100 raw statistics: c.zst programqpc.bin"));
}

TEST_F(OpenProfiles, ANoteNamedTheReadmeOfAFolder) {
  put("run/z.json", chrome_json);
  put("run/README.md", "# An optrace");
  put("run/README", "An optrace");
  put("run/LICENSE.txt", "Apache");
  EXPECT_THAT(notes_of(open({folder_ / "run"})), ElementsAre());
  EXPECT_THAT(error_of({folder_ / "run" / "README.md"}), HasSubstr("not of a format"));
}

TEST_F(OpenProfiles, WalksFoldersInOrderAndSaysWhatIsNoProfile) {
  put("run/z.json", chrome_json);
  put("run/b/c.log", runner_log);
  put("run/a.txt", "hello");
  put("run/empty", "");
  const Opened opened = open({folder_ / "run"});
  EXPECT_THAT(formats_of(opened),
              ElementsAre("Cloud AI 100 runner log: run/b/c.log", "Chrome trace: run/z.json"));
  EXPECT_THAT(notes_of(opened),
              ElementsAre("info run/a.txt: not of a format that npuscope knows (it begins with "
                          "'hello'); docs/formats lists them",
                          "info run/empty: empty; the run or the copy that made it failed, make "
                          "it again"));
}

TEST_F(OpenProfiles, KeepsTheSameProfileTwice) {
  const fs::path a = put("a.json", chrome_json), b = put("b.json", chrome_json);
  EXPECT_EQ(open({a, b}).profiles.size(), 2u);
}

TEST_F(OpenProfiles, OpensAFileThatIsNamedTwiceOnce) {
  const fs::path a = put("run/a.json", chrome_json);
  fs::create_symlink("run/a.json", folder_ / "link.json");
  const Opened opened = open({a, folder_ / "run/../run/a.json", folder_ / "link.json"});
  EXPECT_THAT(formats_of(opened), ElementsAre("Chrome trace: run/a.json"));
  EXPECT_THAT(notes_of(opened),
              ElementsAre("info run/../run/a.json: the same file as run/a.json; opened once",
                          "info link.json: the same file as run/a.json; opened once"));
}

TEST_F(OpenProfiles, OpensAFileThatIsNamedBesideItsFolderOnce) {
  const fs::path a = put("run/a.json", chrome_json);
  put("run/sub/broken.json", "{\"traceEvents\": [");
  const fs::path folder = folder_ / "run", sub = folder / "sub", broken = sub / "broken.json";
  EXPECT_THAT(notes_of(open({a, folder})),
              ElementsAre("info run/a.json: the same file as run/a.json; opened once",
                          StartsWith("warning run/sub/broken.json: ")));
  EXPECT_THAT(notes_of(open({folder, sub})),
              ElementsAre("info run/sub: the same folder as run/sub; opened once",
                          StartsWith("warning run/sub/broken.json: ")));
  EXPECT_THAT(notes_of(open({sub, folder})),
              ElementsAre("info run/sub: the same folder as run/sub; opened once",
                          StartsWith("warning run/sub/broken.json: ")));
  // What was named is missed more than what was found.
  EXPECT_THAT(notes_of(open({folder, broken})),
              ElementsAre("info run/sub/broken.json: the same file as run/sub/broken.json; opened "
                          "once",
                          StartsWith("error run/sub/broken.json: ")));
}

TEST_F(OpenProfiles, NamesWhatCouldNotBeOpenedBesideWhatCould) {
  const Opened opened =
      open({put("a.json", chrome_json), folder_ / "missing", put("b.json", "{\"traceEvents\": [")});
  EXPECT_THAT(formats_of(opened), ElementsAre("Chrome trace: a.json"));
  ASSERT_EQ(opened.notes.size(), 2u);
  EXPECT_THAT(notes_of(opened)[0], "error missing: no such file or folder; check the path");
  EXPECT_THAT(notes_of(opened)[1], StartsWith("error b.json: "));
}

TEST_F(OpenProfiles, FailsOnlyWhenNothingCouldBeOpened) {
  EXPECT_EQ(error_of({folder_ / "missing"}), "missing: no such file or folder; check the path");
  EXPECT_EQ(error_of({put("empty", "")}),
            "empty: empty; the run or the copy that made it failed, make it again");
  EXPECT_EQ(error_of({put("a.zip", "PK\x03\x04...")}),
            "a.zip: a zip archive; unpack it and name what was in it");
  EXPECT_EQ(error_of({put("a.tar", std::string(257, 'a') + "ustar")}),
            "a.tar: a tar archive; unpack it and name what was in it");
  EXPECT_THAT(error_of({put("c_qnn.bin", std::string("\0\0\0\2\0\0\0\3\0\0\0\0\0\0\0\1", 16))}),
              StartsWith("c_qnn.bin: a QNN context binary of 16 bytes: a compiled graph"));
  EXPECT_EQ(error_of({put("a.txt", "\xff\xfe{")}),
            "a.txt: text in UTF-16, as PowerShell's > writes; save it as UTF-8");
  EXPECT_EQ(error_of({}), "no file to open; name files or folders");
  fs::create_directories(folder_ / "nothing");
  EXPECT_EQ(error_of({folder_ / "nothing"}),
            "nothing: an empty folder; name one that holds profiling files");
  put("texts/a", "hello");
  put("texts/b", "world");
  EXPECT_THAT(error_of({folder_ / "texts"}),
              StartsWith("none of 2 files could be opened; texts/a: not of a format"));
}

TEST_F(OpenProfiles, SaysWhatToRunForClosedBinaries) {
  const std::string binary("\x01\x02\x00\xff\xfe binary", 12);
  EXPECT_THAT(error_of({put("qnn-profiling-data_0.log", binary)}),
              HasSubstr("qnn-profile-viewer --config"));
  put("set/graph_schematic.bin", binary);
  put("set/a.json", chrome_json);
  EXPECT_THAT(notes_of(open({folder_ / "set"})),
              ElementsAre(AllOf(StartsWith("warning set/graph_schematic.bin: is a QNN optrace"),
                                HasSubstr("qnn-profile-viewer"))));
}

// A csv of ONNX Runtime names no graph; the profile of the same session does.
TEST_F(OpenProfiles, GraphsOfACsvHadNumbersNextToTheSessionThatNamesThem) {
  std::string csv =
      "Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,Event Identifier\n";
  std::string session = "[";
  int time = 0;
  const auto event = [&](const char* category, const std::string& name, int length,
                         const char* arguments, int at) {
    session += fmt::format(
        R"({}{{"cat":"{}","pid":1,"tid":1,"dur":{},"ts":{},"ph":"X","name":"{}","args":{{{}}}}})",
        session.size() > 1 ? "," : "", category, length, at, name, arguments);
  };
  for (int run = 0; run < 2; ++run) {
    const int begin = time;
    for (const char graph : {'2', '3'}) {
      csv += fmt::format(
          "0,BACKEND,4,COUNT,BACKEND,ROOT,Number of HVX threads used\n"
          "0,BACKEND,70,CYCLES,BACKEND,ROOT,Accelerator (execute) time (cycles)\n"
          "0,NODE,70,CYCLES,BACKEND,SUB-EVENT,op{0}:OpId_2{0} (cycles)\n"
          "0,BACKEND,9,US,BACKEND,ROOT,Accelerator (execute) time\n"
          "0,EXECUTE,10,US,BACKEND,ROOT,QNN (execute) time\n",
          graph);
      time += 10;
      event("Node", fmt::format("QNNExecutionProvider_QNN_9_{}_kernel_time", graph), 9,
            R"("op_name":"QNN_9","provider":"QNNExecutionProvider")", time);
    }
    event("Session", "model_run", 40, "", begin);
    time += 20;
  }
  put("ort/prof.csv", csv);
  put("ort/ort.json", session + "]");
  std::vector<std::string> graphs;
  for (const Profile& profile : open({folder_ / "ort"}).profiles) {
    graphs.push_back(profile.provenance.graph);
  }
  EXPECT_THAT(graphs, testing::UnorderedElementsAre("QNNExecutionProvider_QNN_9_2",
                                                    "QNNExecutionProvider_QNN_9_3", ""));
}

TEST_F(OpenProfiles, TellsZeroAndForeignStatisticsBuffersApart) {
  const std::string name =
      "aic-profiling-program-0-activation-0-inf-1-QAicGraph-aiccyclecounts.bin";
  EXPECT_THAT(error_of({put(name, std::string(100, '\0'))}), HasSubstr("the device never wrote"));
  EXPECT_THAT(error_of({put(name, "\x01\x02\x03\x04")}),
              HasSubstr("the vendor's raw layout is not public"));
}

// --- raw statistics ---

TEST_F(OpenProfiles, DecodesARawBufferWithTheProgramBesideIt) {
  const RandomCase random = make_random_case({});
  const fs::path buffer = put("stats/x-aiccyclecounts.bin", random.bytes());
  EXPECT_THAT(error_of({buffer}), HasSubstr("no programqpc.bin next to it"));

  put_program("programqpc.bin", random);  // in the folder above
  const Opened opened = open({buffer});
  ASSERT_EQ(opened.profiles.size(), 1u);
  const Profile& profile = opened.profiles[0];
  EXPECT_EQ(profile.provenance.graph, "QAicGraph");
  EXPECT_EQ(profile.provenance.instrumentation, "stats level 70");
  EXPECT_GT(profile.spans.size(), 100u);
  EXPECT_FALSE(profile.edges.empty());
}

TEST_F(OpenProfiles, TakesTheProgramThatWroteTheBuffer) {
  const RandomCase one = make_random_case({.seed = 1}), two = make_random_case({.seed = 2});
  put_program("run/a.qpc", one);
  put_program("run/b.qpc", two);
  put("run/x-aiccyclecounts.bin", two.bytes());
  EXPECT_THAT(formats_of(open({folder_ / "run"})),
              ElementsAre("Cloud AI 100 program: run/a.qpc",
                          "Cloud AI 100 raw statistics: run/x-aiccyclecounts.bin run/b.qpc"));
  fs::remove(folder_ / "run/b.qpc");
  EXPECT_THAT(error_of({folder_ / "run/x-aiccyclecounts.bin"}),
              HasSubstr("written by another program"));
}

TEST_F(OpenProfiles, AProgramAloneIsATableOfOperators) {
  const RandomCase random = make_random_case({});
  const Opened opened = open({put_program("p.qpc", random)});
  ASSERT_EQ(opened.profiles.size(), 1u);
  EXPECT_EQ(opened.profiles[0].provenance.format, "Cloud AI 100 program");
  EXPECT_EQ(opened.profiles[0].ops.size(), 2u * 3 * 20);
  EXPECT_EQ(opened.profiles[0].spans.size(), 0u);
}

TEST_F(OpenProfiles, ComparesASummaryWithTheBufferOfTheSameInference) {
  const RandomCase random = make_random_case({}), other = make_random_case({.seed = 4});
  put_program("run/programqpc.bin", random);
  put("run/x-aiccyclecounts.bin", random.bytes());
  const auto summary_of = [](const RandomCase& of) {
    const auto network = qaic::StatsNetwork::create(of.descriptor, &of.program);
    return qaic::print_summary(qaic::summarise(*decode_stats_buffer(of.bytes(), "x", *network)));
  };
  put("run/x.summary.txt", summary_of(random));
  put("run/y.summary.txt", summary_of(other));
  const Opened opened = open({folder_ / "run"});
  EXPECT_THAT(formats_of(opened),
              ElementsAre("Cloud AI 100 raw statistics: run/x-aiccyclecounts.bin "
                          "run/programqpc.bin run/x.summary.txt",
                          "Cloud AI 100 statistics summary: run/y.summary.txt"));
  ASSERT_EQ(opened.profiles[0].checks.size(), 1u);
  EXPECT_EQ(opened.profiles[0].checks[0].outcome, Check::Outcome::passed);

  std::string changed = summary_of(random);
  const auto figure = changed.find("pcycles:", changed.find("batch ucycles")) + 12;
  changed[changed.find_first_of("12345678", figure)] = '9';
  put("run/x.summary.txt", changed);
  const Opened again = open({folder_ / "run"});
  ASSERT_EQ(again.profiles[0].checks.size(), 1u);
  EXPECT_EQ(again.profiles[0].checks[0].outcome, Check::Outcome::failed);
  EXPECT_THAT(again.profiles[0].checks[0].detail, HasSubstr("line"));
}

TEST_F(OpenProfiles, OpensOperatorTracesAsSuch) {
  const RandomCase random = make_random_case({});
  const auto network = qaic::StatsNetwork::create(random.descriptor, &random.program);
  const Profile profile = *decode_stats_buffer(random.bytes(), "x", *network);
  const Profile* profiles[] = {&profile};
  ASSERT_TRUE(qaic::write_opstats_trace(profiles, {}, folder_ / "x.trace.json"));
  EXPECT_THAT(formats_of(open({folder_ / "x.trace.json"})),
              ElementsAre("Cloud AI 100 operator trace: x.trace.json"));
}

// --- places that are no plain files ---

TEST_F(OpenProfiles, SizesAndMemoryOfTorqWithoutTimes) {
  put("torq/sizes.txt", "linalg.matmul,1024,40,loc(unknown)\n");
  put("torq/dispatches.json",
      R"({"dispatches": [{"name": "d", "segments": [{"initialized": true, "size": 1, "address": 2}]}]})");
  EXPECT_THAT(formats_of(open({folder_ / "torq"})),
              ElementsAre("Torq dispatch memory: torq/dispatches.json",
                          "Torq tensor sizes: torq/sizes.txt"));
}

TEST_F(OpenProfiles, FollowsNoLinkInACircle) {
  put("run/a.json", chrome_json);
  fs::create_directory_symlink("..", folder_ / "run/up");
  fs::create_symlink("nowhere", folder_ / "run/broken");
  fs::create_symlink("self", folder_ / "run/self");
  fs::create_symlink("a.json", folder_ / "run/z.json");
  const Opened opened = open({folder_ / "run"});
  EXPECT_THAT(formats_of(opened), ElementsAre("Chrome trace: run/a.json"));
  EXPECT_THAT(notes_of(opened),
              ElementsAre("info run/broken: a broken link, pipe, device or socket; left out",
                          "info run/self: a broken link, pipe, device or socket; left out",
                          "info run/up: a link to a folder; not followed",
                          "info run/z.json: the same file as run/a.json; opened once"));
  EXPECT_EQ(open({folder_ / "run/up/run"}).profiles.size(), 1u);  // a link that was named
}

TEST_F(OpenProfiles, ReadsPipesThatAreNamedAndNoOthers) {
  put("run/a.json", chrome_json);
  const fs::path pipe = folder_ / "run/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(open({folder_ / "run"}).profiles.size(), 1u);  // does not wait for a writer

  std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << gzip(chrome_json); });
  const Opened opened = open({pipe});
  writer.join();
  EXPECT_THAT(formats_of(opened), ElementsAre("Chrome trace: run/pipe"));

  std::thread other([&] { std::ofstream(pipe, std::ios::binary) << "hello"; });
  EXPECT_THAT(error_of({pipe}), StartsWith("run/pipe: not of a format"));
  other.join();
}

TEST_F(OpenProfiles, RefusesAPipeWithoutEnd) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] {
    ::signal(SIGPIPE, SIG_IGN);
    const int out = ::open(pipe.c_str(), O_WRONLY | O_CLOEXEC);
    const std::string block(1 << 16, 'x');
    while (::write(out, block.data(), block.size()) > 0) {
    }
    ::close(out);
  });
  OpenOptions options;
  options.source.decompressed_limit = 1 << 20;
  const std::vector<fs::path> paths{pipe};
  const auto opened = open_profiles(paths, options);
  writer.join();
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("more than 1048576 bytes came, the limit"));
}

TEST_F(OpenProfiles, RefusesDevicesAndSockets) {
  EXPECT_EQ(error_of({"/dev/null"}),
            "/dev/null: a device or socket, not a file; name a file, folder or pipe");
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = (folder_ / "s").string();
  if (socket >= 0 && name.size() < sizeof address.sun_path) {
    name.copy(address.sun_path, name.size());
    ASSERT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(error_of({folder_ / "s"}),
              "s: a device or socket, not a file; name a file, folder or pipe");
  }
  ::close(socket);
}

TEST_F(OpenProfiles, SaysWhichFolderCannotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser reads everything";
  put("run/a.json", chrome_json);
  put("run/closed/b.json", chrome_json);
  fs::permissions(folder_ / "run/closed", fs::perms::none);
  const fs::path secret = put("run/secret.json", chrome_json);
  fs::permissions(secret, fs::perms::none);
  EXPECT_THAT(notes_of(open({folder_ / "run"})),
              ElementsAre(StartsWith("warning run/closed: cannot be read"),
                          StartsWith("warning run/secret.json: cannot open")));
}

TEST_F(OpenProfiles, CountsManyUnknownFilesInsteadOfNamingAll) {
  put("run/a.json", chrome_json);
  for (int i = 0; i < 150; ++i) put("run/x" + std::to_string(i), "text");
  const Opened opened = open({folder_ / "run"});
  EXPECT_EQ(opened.notes.size(), 101u);
  EXPECT_EQ(opened.notes.back().message, "50 more files are not profiles of a known format");
}

// --- SigmaStar ---

constexpr std::string_view ipu_timeline =
    R"([{"ph":"X","name":"layer_7","pid":"core0","tid":0,"ts":0,"dur":10,"args":{"total_cycle":10,"conv_cycle_percent":"50%"}},
{"ph":"X","name":"layer_8","pid":"core0","tid":0,"ts":10,"dur":30,"args":{"total_cycle":30,"conv_cycle_percent":"0%"}}])";

std::string two_operators() {
  return sigmastar::write_model(
      sigmastar::test_support::make_model({{"CONV_2D", 1}, {"SOFTMAX", 1}}));
}

TEST_F(OpenProfiles, AnIpuTimelineAloneAndWithItsModel) {
  const fs::path timeline = put("ipu/log_ctrl0.json", ipu_timeline);
  const Opened alone = open({timeline});
  ASSERT_EQ(alone.profiles.size(), 1u);
  EXPECT_EQ(alone.profiles[0].provenance.format, "SigmaStar IPU timeline");
  EXPECT_EQ(alone.profiles[0].spans.duration[1], 30);
  put("ipu/fixed.sim", two_operators());
  const Opened both = open({folder_ / "ipu"});
  ASSERT_EQ(both.profiles.size(), 1u);
  const Profile& profile = both.profiles[0];
  EXPECT_EQ(profile.text(profile.ops[1].kind), "SOFTMAX");
  EXPECT_EQ(profile.provenance.files.size(), 2u);
  EXPECT_THAT(both.notes, IsEmpty());
}

TEST_F(OpenProfiles, SigmaStarFilesThatAreNoProfilesSayWhatToDo) {
  const auto error = [&](const fs::path& path) {
    const auto opened = open_profiles(std::vector<fs::path>{path});
    return opened ? "" : opened.error().message;
  };
  EXPECT_THAT(error(put("fixed.sim", two_operators())), HasSubstr("name its IPU timeline"));
  EXPECT_THAT(error(put("a.img", "SGSI and more")), HasSubstr("npuscope ipu info -m"));
  EXPECT_THAT(error(put("m_log_core0.bin", std::string(64, '\1'))),
              HasSubstr("npuscope ipu timeline"));
}

// --- damage ---

TEST_F(OpenProfiles, KeepsWhatABrokenArchiveHolds) {
  std::string log(runner_log);
  for (int i = 0; i < 2000; ++i) log += fmt::format("Writing file:./{}\n", i * 7919 % 65537);
  const std::string whole = gzip(log);
  const Opened opened =
      open({put("a.log.gz", std::string_view(whole).substr(0, whole.size() / 2))});
  ASSERT_EQ(opened.profiles.size(), 1u);
  EXPECT_EQ(opened.profiles[0].provenance.inferences, 7u);
  ASSERT_EQ(opened.profiles[0].notes.size(), 1u);
  EXPECT_EQ(opened.profiles[0].notes[0].severity, Severity::error);
}

TEST_F(OpenProfiles, TruncatedAnywhereIsAProfileOrAnErrorThatNamesTheFile) {
  for (const std::string_view whole :
       {std::string_view(chrome_json), std::string_view(runner_log)}) {
    for (std::size_t size = 0; size <= whole.size(); ++size) {
      const std::vector<fs::path> paths{put("x", whole.substr(0, size))};
      const auto opened = open_profiles(paths);
      if (!opened) {
        EXPECT_THAT(opened.error().message, StartsWith(paths[0].string() + ": "));
      }
    }
  }
}

TEST_F(OpenProfiles, APerfettoTraceWithoutTrackEventsWasOfNoFormat) {
  // Two packets of ftrace_events: cpu 0 and an event with a time.
  const std::string packet("\x0A\x09\x0A\x07\x08\x00\x12\x03\x08\xC8\x01", 11);
  const auto opened = open_profiles(std::vector{put("ftrace.pb", packet + packet)});
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_EQ(opened->profiles.size(), 1u);
  EXPECT_EQ(opened->profiles[0].provenance.format, "Perfetto trace");
  ASSERT_EQ(opened->profiles[0].notes.size(), 2u);
  EXPECT_THAT(opened->profiles[0].notes[0].message, StartsWith("no track events"));
  EXPECT_THAT(opened->profiles[0].notes[1].message, HasSubstr("ftrace_events"));
}

}  // namespace
}  // namespace npuscope::open_test
