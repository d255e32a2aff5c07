// A folder of its own for a test, with a small Chrome trace in it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace npuscope::cli {

class TraceFolder : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("npuscope-trace-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    write("trace.json", R"({"traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"server"}},
{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"worker"}},
{"ph":"X","pid":1,"tid":2,"ts":1000,"dur":100,"name":"step","cat":"user"},
{"ph":"X","pid":1,"tid":2,"ts":1010,"dur":50,"name":"matmul","cat":"matrix"},
{"ph":"X","pid":1,"tid":2,"ts":1150,"dur":50,"name":"step","cat":"user"}]})");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  // Of the folder, or of elsewhere by its whole path.
  std::string read(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(folder_ / name, std::ios::binary).rdbuf();
    return text.str();
  }

  std::filesystem::path folder_;
};

}  // namespace npuscope::cli
