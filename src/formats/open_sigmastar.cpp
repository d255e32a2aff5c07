// SigmaStar's models (fixed.sim, offline images): no profiles, but what names the layers of one.
#include "formats/open_table.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/formats/sigmastar/profile.hpp"

namespace npuscope {

std::optional<FormatKind> recognise_sigmastar_model(const Candidate& candidate) {
  if (!sigmastar::looks_like_model(candidate.head)) return std::nullopt;
  return FormatKind{0};
}

void open_sigmastar_models(std::span<const Input> inputs, OpenRun& run) {
  for (const Input& input : inputs) {
    const std::string name = input.path.string();
    const auto file = MappedFile::open(input.path);
    if (!file) {
      run.fail(input, file.error());
      continue;
    }
    const auto model = sigmastar::read_model(file->bytes(), name);
    if (!model) {
      run.fail(input, model.error());
      continue;
    }
    bool has_timeline = false;
    for (OpenRun::OpenedProfile& opened : run.profiles()) {
      if (opened.profile.provenance.format != sigmastar::timeline_format) continue;
      has_timeline = true;
      const auto added = sigmastar::add_model(opened.profile, *model, name);
      if (!added) run.fail(input, added.error());
    }
    if (!has_timeline) {
      run.fail(input, Error{ErrorKind::input,
                            "a SigmaStar model, which has no times by itself; name its IPU "
                            "timeline (log_ctrl0.json) beside it"});
    }
  }
}

}  // namespace npuscope
