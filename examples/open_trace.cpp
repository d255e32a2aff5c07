// Open any profile, ask what cost most, print it: what a program of your own begins with.
//
//   open_trace trace.json.gz
#include <cstdio>

#include "npuscope/analysis/analysis.hpp"
#include "npuscope/formats/open.hpp"

using namespace npuscope;

int main(int argc, char** argv) {
  if (argc < 2) return std::fputs("usage: open_trace FILES...\n", stderr), 2;
  const std::vector<std::filesystem::path> files(argv + 1, argv + argc);
  const Result<Opened> opened = open_profiles(files);
  if (!opened) return std::fprintf(stderr, "open_trace: %s\n", opened.error().message.c_str()), 3;
  for (const Profile& profile : opened->profiles) {
    const analysis::Analysis analysis(profile);
    std::printf("%s: wall %lld ticks\n", profile.provenance.format.c_str(),
                static_cast<long long>(analysis.coarse().wall));
    const analysis::OpTable ops = analysis.ops({.top = 5});
    for (const analysis::OpRow& row : ops.rows) {
      std::printf("  %-40s %14.0f %s\n", row.name.c_str(), row.values[ops.ranked_by].value_or(0),
                  ops.ranked_by_name.c_str());
    }
  }
}
