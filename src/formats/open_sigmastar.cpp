// SigmaStar's models (fixed.sim, offline images): no profiles, but what names the layers of one.
#include <algorithm>

#include "formats/open_table.hpp"
#include "formats/other_files.hpp"
#include "formats/sigmastar/image.hpp"
#include "formats/sigmastar/profile.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope {
namespace {

// SigmaStar's older chips have the same identifier; what its tools write has operators of its own.
// Arm's compiler leaves one kind, too.
bool is_plain_tflite(const Input& input, const Result<sigmastar::Model>& model) {
  const auto head = read_head(input.path, sigmastar::model_mark_bytes);
  if (!head || head->size() < sigmastar::model_mark_bytes) return false;
  if (std::string_view(*head).substr(4, 4) != "TFL3") return false;
  if (!model) return input.path.extension() == ".tflite";
  return std::none_of(model->operators.begin(), model->operators.end(),
                      [](const auto& each) { return each.is_custom && each.type != "ethos-u"; }) &&
         input.path.extension() != ".sim";
}

void name_layers(const Input& input, const Result<sigmastar::Model>& model, OpenRun& run) {
  if (is_plain_tflite(input, model)) {
    if (!input.named && !run.profiles().empty()) return;  // the model of what lies next to it
    return run.fail(input, Error{ErrorKind::input, tflite_advice()});
  }
  if (!model) return run.fail(input, model.error());
  bool has_timeline = false;
  for (OpenRun::OpenedProfile& opened : run.profiles()) {
    if (opened.profile.provenance.format != sigmastar::timeline_format) continue;
    has_timeline = true;
    const auto added = sigmastar::add_model(opened.profile, *model, input.path.string());
    if (!added) run.fail(input, added.error());
  }
  if (has_timeline) return;
  run.fail(input, Error{ErrorKind::input,
                        "a SigmaStar model, which has no times by itself; name its IPU "
                        "timeline (log_ctrl0.json) beside it"});
}

}  // namespace

std::optional<FormatKind> recognise_sigmastar_model(const Candidate& candidate) {
  if (!sigmastar::looks_like_model(candidate.head) &&
      !sigmastar::looks_like_image(candidate.head)) {
    return std::nullopt;
  }
  return FormatKind{0};
}

// A folder may have both: the image holds the same model as the fixed model beside it.
void open_sigmastar_models(std::span<const Input> inputs, OpenRun& run) {
  bool has_model = false;
  for (const bool are_images : {false, true}) {
    for (const Input& input : inputs) {
      const std::string name = input.path.string();
      const auto file = MappedFile::open(input.path);
      if (!file) {
        if (!are_images) run.fail(input, file.error());
        continue;
      }
      const bool is_image = sigmastar::looks_like_image(as_text(file->bytes()));
      if (is_image != are_images || (is_image && has_model)) continue;
      has_model = has_model || !is_image;
      name_layers(input, sigmastar::read_model_or_image(file->bytes(), name), run);
    }
  }
}

}  // namespace npuscope
