// What ./dev says about packages, on machines that are made of a folder: its tools are the
// folder's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace npuscope::dev_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class DevPackages : public ::testing::Test {
 protected:
  DevPackages() {
    std::string name = (fs::temp_directory_path() / "npuscope-dev-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    for (const char* tool : {"bash", "sed", "sort", "comm", "readlink", "dirname", "env"}) {
      const fs::path at = fs::exists(fs::path("/usr/bin") / tool) ? "/usr/bin" : "/bin";
      fs::create_symlink(at / tool, folder_ / tool);
    }
    add_tool("id", "echo 1000");
    add_tool("apt-get", "echo apt-get \"$@\"");
  }
  ~DevPackages() override { fs::remove_all(folder_); }

  void add_tool(const std::string& name, const std::string& script) const {
    std::ofstream(folder_ / name) << "#!/bin/bash\n" << script << '\n';
    fs::permissions(folder_ / name, fs::perms::owner_all);
  }

  // dpkg-query is called with -W -f FORMAT PACKAGES...
  void install_all_but(const std::string& missing) const {
    add_tool("dpkg-query", "missing='" + missing + R"('
      for package in "${@:4}"; do
        if [[ $package == "$missing" ]]; then status=1; else echo "installed $package"; fi
      done
      exit "${status:-0}")");
  }

  struct Outcome {
    int status = 0;
    std::string said;
  };
  Outcome install_packages() const {
    const std::string command = "PATH=" + folder_.string() +
                                " " NPUSCOPE_SOURCE_DIR "/dev install-packages 2>&1 </dev/null";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    Outcome outcome;
    for (int byte = std::fgetc(pipe); byte != EOF; byte = std::fgetc(pipe)) {
      outcome.said += char(byte);
    }
    outcome.status = ::pclose(pipe);
    return outcome;
  }

  fs::path folder_;
};

TEST_F(DevPackages, AsksForNobodyWhereAllAreThere) {
  install_all_but("");
  const Outcome outcome = install_packages();
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.said, IsEmpty());
}

TEST_F(DevPackages, NamesTheOneCommandWhereSudoWouldAskForAPassword) {
  install_all_but("libre2-dev");
  add_tool("sudo", "exit 1");
  const Outcome outcome = install_packages();
  EXPECT_NE(outcome.status, 0);
  EXPECT_EQ(outcome.said,
            "dev: packages are missing (libre2-dev); type: sudo ./dev install-packages\n");
}

TEST_F(DevPackages, NamesTheOneCommandWhereThereIsNoSudo) {
  install_all_but("libre2-dev");
  const Outcome outcome = install_packages();
  EXPECT_NE(outcome.status, 0);
  EXPECT_EQ(outcome.said,
            "dev: packages are missing (libre2-dev); type: su -c \"./dev install-packages\"\n");
}

TEST_F(DevPackages, InstallsThroughSudoWhereItAsksNothing) {
  install_all_but("libre2-dev");
  add_tool("sudo", "[[ $1 != -n ]] || shift; \"$@\"");
  add_tool("true", "exit 0");
  const Outcome outcome = install_packages();
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.said, StartsWith("Installing libre2-dev\n"));
  EXPECT_THAT(outcome.said, HasSubstr("install -q -y --no-install-recommends libre2-dev"));
}

TEST_F(DevPackages, InstallsAsRootWithoutSudo) {
  install_all_but("libre2-dev");
  add_tool("id", "echo 0");
  add_tool("sudo", "echo asked sudo");
  const Outcome outcome = install_packages();
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.said, HasSubstr("install -q -y --no-install-recommends libre2-dev"));
  EXPECT_THAT(outcome.said, Not(HasSubstr("asked sudo")));
}

}  // namespace
}  // namespace npuscope::dev_test
