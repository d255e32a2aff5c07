#include "npuscope/base/files.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

namespace npuscope::files_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Files : public testing::Test {
 protected:
  Files() {
    std::string name = (fs::temp_directory_path() / "npuscope-files-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Files() override {
    ::chmod(folder_.c_str(), 0700);
    fs::remove_all(folder_);
  }

  fs::path put(const std::string& name, std::string_view text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  static std::string contents(const fs::path& path) {
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      found.push_back(entry.path().filename().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  fs::path folder_;
};

using MappedFiles = Files;
using AtomicFiles = Files;
using WritableFolder = Files;

void expect_input_error(const fs::path& path, const std::string& message) {
  const auto file = MappedFile::open(path);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().kind, ErrorKind::input);
  EXPECT_EQ(file.error().message, path.string() + ": " + message);
}

TEST_F(MappedFiles, GiveTheBytesOfAFile) {
  const std::string text("line\n\0\xff", 7);
  const auto file = MappedFile::open(put("data", text));
  ASSERT_TRUE(file);
  EXPECT_EQ(as_text(file->bytes()), text);
  EXPECT_EQ(file->path(), folder_ / "data");
}

TEST_F(MappedFiles, AnEmptyFileHasNoBytes) {
  const auto file = MappedFile::open(put("empty", ""));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->bytes().size(), 0u);
}

TEST_F(MappedFiles, MovingKeepsTheBytes) {
  auto first = MappedFile::open(put("first", "1"));
  auto second = MappedFile::open(put("second", "22"));
  ASSERT_TRUE(first && second);
  MappedFile moved(std::move(*first));
  EXPECT_EQ(as_text(moved.bytes()), "1");
  moved = std::move(*second);
  EXPECT_EQ(as_text(moved.bytes()), "22");
}

TEST_F(MappedFiles, SurviveReplacementOfTheFile) {
  const fs::path path = put("data", "old");
  const auto file = MappedFile::open(path);
  ASSERT_TRUE(file);
  ASSERT_TRUE(write_file_atomically(path, as_byte_span("new, longer")));
  EXPECT_EQ(as_text(file->bytes()), "old");
  EXPECT_EQ(contents(path), "new, longer");
}

TEST_F(MappedFiles, RefuseWhatIsNotAFile) {
  expect_input_error(folder_ / "missing", "cannot open: No such file or directory; check the path");
  const std::string other = "a folder, pipe or device, not a regular file; name a file";
  expect_input_error(folder_, other);
  expect_input_error("/dev/null", other);
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  expect_input_error(folder_ / "pipe", other);  // and does not wait for a writer
}

TEST_F(MappedFiles, ASparseGiantIsMappedOrRefusedButNeverRead) {
  const fs::path path = put("giant", "");
  fs::resize_file(path, 1ull << 40);
  const auto file = MappedFile::open(path);
  if (file) {
    EXPECT_EQ(file->bytes().size(), 1ull << 40);
    EXPECT_EQ(file->bytes()[0], std::byte{0});
  } else {
    EXPECT_THAT(file.error().message, HasSubstr("cannot map"));
  }
}

TEST_F(AtomicFiles, AppearOnlyWhenCommitted) {
  const fs::path path = folder_ / "out.json";
  auto file = AtomicFile::create(path);
  ASSERT_TRUE(file);
  file->write("{");
  file->write(as_byte_span("}"));
  EXPECT_FALSE(fs::exists(path));
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(contents(path), "{}");
  EXPECT_THAT(names(), ElementsAre("out.json"));
}

TEST_F(AtomicFiles, AreRemovedWhenNotCommitted) {
  put("out.json", "old");
  {
    auto file = AtomicFile::create(folder_ / "out.json");
    ASSERT_TRUE(file);
    file->write("new");
  }
  EXPECT_EQ(contents(folder_ / "out.json"), "old");
  EXPECT_THAT(names(), ElementsAre("out.json"));
}

TEST_F(AtomicFiles, KeepEveryByteWhateverThePieces) {
  std::string expected;
  auto file = AtomicFile::create(folder_ / "out");
  ASSERT_TRUE(file);
  for (const std::size_t size : {1, 1'048'575, 1'048'576, 3'000'000, 0, 5, 1'048'577, 7}) {
    const std::string piece(size, char('a' + expected.size() % 26));
    file->write(piece);
    expected += piece;
  }
  ASSERT_TRUE(file->commit());
  EXPECT_TRUE(contents(folder_ / "out") == expected);
}

TEST_F(AtomicFiles, MoveBeforeAndAfterWriting) {
  auto created = AtomicFile::create(folder_ / "out");
  ASSERT_TRUE(created);
  created->write("one ");
  AtomicFile moved(std::move(*created));
  moved.write("two");
  ASSERT_TRUE(moved.commit());
  EXPECT_EQ(contents(folder_ / "out"), "one two");
  EXPECT_THAT(names(), ElementsAre("out"));
}

TEST_F(AtomicFiles, WorkForNamesAsLongAsNamesCanBe) {
  const std::string name(255, 'n');
  ASSERT_TRUE(write_file_atomically(folder_ / name, as_byte_span("x")));
  EXPECT_EQ(contents(folder_ / name), "x");
}

TEST_F(AtomicFiles, WritersOfOneNameLeaveOneWholeFile) {
  const fs::path path = folder_ / "out";
  {
    std::vector<std::jthread> writers;
    for (char letter = 'a'; letter < 'e'; ++letter) {
      writers.emplace_back([&path, letter] {
        const std::string text(100'000, letter);
        for (int i = 0; i < 20; ++i) (void)write_file_atomically(path, as_byte_span(text));
      });
    }
  }
  const std::string text = contents(path);
  ASSERT_EQ(text.size(), 100'000u);
  EXPECT_EQ(text, std::string(100'000, text[0]));
  EXPECT_THAT(names(), ElementsAre("out"));
}

TEST_F(AtomicFiles, KeepThePermissionsOfTheFileTheyReplace) {
  const fs::path path = put("secret", "old");
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  ASSERT_TRUE(write_file_atomically(path, as_byte_span("new")));
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(AtomicFiles, NewOnesFollowTheUmask) {
  const mode_t before = ::umask(027);
  const Status written = write_file_atomically(folder_ / "out", as_byte_span("x"));
  ::umask(before);
  ASSERT_TRUE(written);
  EXPECT_EQ(unsigned(fs::status(folder_ / "out").permissions()), 0640u);
}

TEST_F(AtomicFiles, WriteThroughASymbolicLink) {
  put("real", "old");
  fs::create_symlink("real", folder_ / "link");
  ASSERT_TRUE(write_file_atomically(folder_ / "link", as_byte_span("new")));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(contents(folder_ / "real"), "new");
}

TEST_F(AtomicFiles, DoNotReplaceADevice) {
  ASSERT_TRUE(write_file_atomically("/dev/null", as_byte_span("nothing")));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(AtomicFiles, WriteIntoAPipe) {
  const fs::path path = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string received;
  {
    const std::jthread reader([&] { received = contents(path); });
    ASSERT_TRUE(write_file_atomically(path, as_byte_span("through the pipe")));
  }
  EXPECT_EQ(received, "through the pipe");
  EXPECT_TRUE(fs::is_fifo(path));
}

void expect_output_error(const Status& status, const std::string& message) {
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::output);
  EXPECT_EQ(status.error().message, message);
}

TEST_F(AtomicFiles, RefuseNamesThatCannotBeFiles) {
  const ByteSpan nothing;
  const std::string folder = folder_.string();
  expect_output_error(write_file_atomically(folder_, nothing),
                      folder + ": is a folder; name a file in it");
  expect_output_error(write_file_atomically("", nothing), "\"\": not the name of a file; name one");
  expect_output_error(
      write_file_atomically(folder_ / "missing" / "out", nothing),
      folder + "/missing/out: cannot create: No such file or directory; check the path");
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(AtomicFiles, AFullDeviceIsAnErrorAtTheEnd) {
  expect_output_error(
      write_file_atomically("/dev/full", as_byte_span("x")),
      "/dev/full: cannot write: No space left on device; make room or choose another disk");
}

// Runs `body` in a process of its own, which a limit set there cannot outlive. 0 when body is true.
template <class Body>
int exit_status_of(Body body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body() ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

TEST_F(AtomicFiles, ADiskThatFillsUpLeavesTheOldFileAndNothingElse) {
  put("out", "old");
  const int status = exit_status_of([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1'500'000, 1'500'000};  // beyond the first flush, before the last
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto file = AtomicFile::create(folder_ / "out");
    if (!file) return false;
    for (int i = 0; i < 40; ++i) file->write(std::string(100'000, 'x'));
    const Status committed = file->commit();
    return !committed && committed.error().kind == ErrorKind::output &&
           committed.error().message ==
               (folder_ / "out").string() +
                   ": cannot write: File too large; make room or choose another disk";
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(contents(folder_ / "out"), "old");
  EXPECT_THAT(names(), ElementsAre("out"));
}

TEST_F(AtomicFiles, AKilledRunLeavesTheOldFile) {
  put("out", "old");
  const int status = exit_status_of([&] {
    auto file = AtomicFile::create(folder_ / "out");
    file->write(std::string(2'000'000, 'x'));
    return ::raise(SIGKILL) != 0;
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(contents(folder_ / "out"), "old");
  ASSERT_TRUE(write_file_atomically(folder_ / "out", as_byte_span("new")));
  EXPECT_EQ(contents(folder_ / "out"), "new");
}

// The superuser may write anywhere, so permission tests run as nobody (65534) there.
template <class Body>
int exit_status_as_ordinary_user(Body body) {
  return exit_status_of([&] {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return false;
    return body();
  });
}

// What a handler of SIGINT does; in a process that ends, because no file is made after it.
TEST_F(AtomicFiles, AnInterruptedRunLeavesNoTemporaryFile) {
  auto committed = AtomicFile::create(folder_ / "whole");
  ASSERT_TRUE(committed && committed->commit());
  EXPECT_EQ(exit_status_of([&] {
              auto file = AtomicFile::create(folder_ / "half");
              if (!file) return false;
              file->write("text");
              if (names().size() != 2) return false;
              remove_temporary_files();
              return names() == std::vector<std::string>{"whole"} && !file->commit();
            }),
            0);
  EXPECT_THAT(names(), ElementsAre("whole"));
}

// A thread made its file after the handler of another had removed those that there were.
TEST_F(AtomicFiles, NoThreadMakesAFileOnceARunIsInterrupted) {
  EXPECT_EQ(exit_status_of([&] {
              std::atomic<bool> begun{false};
              std::vector<std::thread> threads;
              for (int i = 0; i < 4; ++i) {
                threads.emplace_back([&, i] {
                  while (auto file = AtomicFile::create(folder_ / std::to_string(i))) {
                    begun = true;
                    if (!file->commit()) break;
                  }
                });
              }
              while (!begun) std::this_thread::yield();
              remove_temporary_files();
              const std::vector<std::string> left = names();  // were the threads ended here
              for (std::thread& thread : threads) thread.join();
              return std::ranges::none_of(
                  left, [](const std::string& name) { return name.starts_with(".npuscope-"); });
            }),
            0);
}

TEST_F(AtomicFiles, AnUnwritableFolderIsAnError) {
  ASSERT_EQ(::chmod(folder_.c_str(), 0555), 0);
  EXPECT_EQ(exit_status_as_ordinary_user([&] {
              const Status written = write_file_atomically(folder_ / "out", as_byte_span("x"));
              return !written &&
                     written.error().message ==
                         (folder_ / "out").string() +
                             ": cannot create: Permission denied; check the permissions";
            }),
            0);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(WritableFolder, IsLeftAsItWas) {
  EXPECT_TRUE(check_writable_folder(folder_));
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(WritableFolder, SaysWhatIsWrong) {
  expect_output_error(check_writable_folder(folder_ / "missing"),
                      (folder_ / "missing").string() + ": no such folder; create it first");
  const fs::path file = put("file", "");
  expect_output_error(check_writable_folder(file), file.string() + ": not a folder; name a folder");
  ASSERT_EQ(::chmod(folder_.c_str(), 0555), 0);
  EXPECT_EQ(exit_status_as_ordinary_user([&] {
              const Status status = check_writable_folder(folder_);
              return !status &&
                     status.error().message == folder_.string() +
                                                   ": cannot create files in it: "
                                                   "Permission denied; check the permissions";
            }),
            0);
}

TEST_F(Files, AnOutputThatIsAnInputUnderAnyNameIsRefused) {
  const std::string input = put("trace.json", "{}").string();
  fs::create_symlink(input, folder_ / "link.json");
  const std::vector<std::string> inputs{"missing.json", input, folder_.string()};
  const auto refused = check_output_is_no_input(inputs, folder_ / "link.json");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  EXPECT_EQ(refused.error().message,
            (folder_ / "link.json").string() +
                ": is an input too; name another file or folder for the output");
  EXPECT_TRUE(check_output_is_no_input(inputs, folder_ / "other.json"));
  EXPECT_TRUE(check_output_is_no_input(inputs, folder_));  // what is in it stays
}

}  // namespace
}  // namespace npuscope::files_test
