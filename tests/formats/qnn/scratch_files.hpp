// Files for the time of one test, and their profiles.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "formats/qnn/assemble/sets.hpp"

namespace npuscope::qnn::test {

class ScratchFiles : public ::testing::Test {
 protected:
  ScratchFiles()
      : folder_(std::filesystem::temp_directory_path() /
                ("npuscope-qnn-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~ScratchFiles() override { std::filesystem::remove_all(folder_); }

  File write(const std::string& name, std::string_view text) {
    // A new file each time: some file systems write a truncated one through to the disk.
    std::filesystem::remove(folder_ / name);
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return {folder_ / name, recognise(text.substr(0, recognition_bytes))};
  }
  std::filesystem::path path(const std::string& name) const { return folder_ / name; }

  // The one profile of these files.
  Profile read_one(const std::vector<File>& files) {
    auto sets = read_sets(files);
    if (!sets) {
      ADD_FAILURE() << sets.error().message;
      return {};
    }
    EXPECT_EQ(sets->profiles.size(), 1u);
    return sets->profiles.empty() ? Profile{} : std::move(sets->profiles.front());
  }

 private:
  std::filesystem::path folder_;
};

inline const MeasureColumn* column(const Profile& profile, std::string_view what) {
  const auto name = profile.strings.find(what);
  return name ? profile.spans.measure(*name) : nullptr;
}

inline std::vector<double> values_of(const Profile& profile, std::string_view what) {
  std::vector<double> values;
  for (const Measure& measure : profile.measures) {
    if (profile.text(measure.what) == what) values.push_back(measure.value);
  }
  return values;
}

inline std::string outcomes(const Profile& profile, Check::Outcome outcome) {
  std::string out;
  for (const Check& check : profile.checks) {
    if (check.outcome == outcome) out += check.name + " (" + check.detail + ")\n";
  }
  return out;
}

inline std::uint64_t noted(const Profile& profile, std::string_view part) {
  std::uint64_t count = 0;
  for (const Note& note : profile.notes) {
    if (note.message.find(part) != std::string::npos) count += note.count;
  }
  return count;
}

}  // namespace npuscope::qnn::test
