// Formats whose files are each for itself.
#include "formats/aihub/profile_json.hpp"
#include "formats/etdump/read.hpp"
#include "formats/furiosa/schedule.hpp"
#include "formats/genie/profile_json.hpp"
#include "formats/ggml/log.hpp"
#include "formats/ggml/profile.hpp"
#include "formats/hailo/profile.hpp"
#include "formats/ireeperf/read.hpp"
#include "formats/open_table.hpp"
#include "formats/openvino/profiling_text.hpp"
#include "formats/tenstorrent/ops_perf.hpp"

namespace npuscope {
namespace {

std::optional<FormatKind> only_kind(bool is_it) {
  return is_it ? std::optional(FormatKind{0}) : std::nullopt;
}

void add(std::size_t order, Profile profile, OpenRun& run) { run.add(order, std::move(profile)); }
void add(std::size_t order, std::vector<Profile> profiles, OpenRun& run) {
  for (Profile& profile : profiles) run.add(order, std::move(profile));
}

// `read`: a Result of a profile or several, out of a ByteSource.
template <class Read>
void open_each(std::span<const Input> inputs, OpenRun& run, const Read& read) {
  for (const Input& input : inputs) {
    auto source = open_byte_source(input.path, run.options().source);
    if (!source) {
      run.fail(input, source.error());
    } else if (auto opened = read(**source)) {
      add(input.order, std::move(*opened), run);
    } else {
      run.fail(input, opened.error());
    }
  }
}

}  // namespace

std::optional<FormatKind> recognise_etdump(const Candidate& candidate) {
  return only_kind(etdump::looks_like(candidate.head));
}
void open_etdump(std::span<const Input> inputs, OpenRun& run) {
  constexpr std::uint64_t max_bytes = std::uint64_t{1} << 30;
  open_each(inputs, run, [&](ByteSource& source) {
    return read_all(source, max_bytes).and_then([&](const std::string& text) {
      return etdump::read_profile({source.name(), text});
    });
  });
}

std::optional<FormatKind> recognise_ireeperf(const Candidate& candidate) {
  return only_kind(ireeperf::looks_like(candidate.head));
}
void open_ireeperf(std::span<const Input> inputs, OpenRun& run) {
  open_each(inputs, run, [&](ByteSource& source) {
    return ireeperf::read_profile(source, run.options().progress);
  });
}

std::optional<FormatKind> recognise_ggml(const Candidate& candidate) {
  return only_kind(ggml::looks_like_log(candidate.head));
}
void open_ggml(std::span<const Input> inputs, OpenRun& run) {
  open_each(inputs, run, [&](ByteSource& source) {
    return ggml::read_log(source, run.options().progress).map([](ggml::Log log) {
      return ggml::make_profiles(log);
    });
  });
}

std::optional<FormatKind> recognise_aihub(const Candidate& candidate) {
  return only_kind(aihub::looks_like_profile_json(candidate.head));
}
void open_aihub(std::span<const Input> inputs, OpenRun& run) {
  open_each(inputs, run, [](ByteSource& source) { return aihub::read_profile_json(source); });
}

std::optional<FormatKind> recognise_genie(const Candidate& candidate) {
  return only_kind(genie::looks_like_profile_json(candidate.head));
}
void open_genie(std::span<const Input> inputs, OpenRun& run) {
  open_each(inputs, run, [](ByteSource& source) { return genie::read_profile_json(source); });
}

std::optional<FormatKind> recognise_hailo(const Candidate& candidate) {
  return only_kind(hailo::looks_like_trace(candidate.head));
}
void open_hailo(std::span<const Input> inputs, OpenRun& run) {
  open_each(inputs, run, [](ByteSource& source) { return hailo::read_profiles(source); });
}

std::optional<FormatKind> recognise_furiosa(const Candidate& candidate) {
  return only_kind(furiosa::looks_like_schedule(candidate.head));
}
void open_furiosa(std::span<const Input> inputs, OpenRun& run) {
  open_each(inputs, run, [](ByteSource& source) { return furiosa::read_schedule(source); });
}

std::optional<FormatKind> recognise_openvino_text(const Candidate& candidate) {
  return only_kind(openvino::looks_like_profiling_text(candidate.head));
}
void open_openvino_texts(std::span<const Input> inputs, OpenRun& run) {
  open_each(inputs, run, [&](ByteSource& source) {
    return openvino::read_profiling_text(source).map([&](const std::vector<openvino::Run>& runs) {
      std::vector<Profile> profiles;
      for (const openvino::Run& each : runs) {
        profiles.push_back(openvino::make_profile(each, run.options().roles));
      }
      return profiles;
    });
  });
}

std::optional<FormatKind> recognise_tenstorrent(const Candidate& candidate) {
  return only_kind(tenstorrent::looks_like_ops_perf(candidate.head));
}
void open_tenstorrent(std::span<const Input> inputs, OpenRun& run) {
  open_each(inputs, run, [](ByteSource& source) { return tenstorrent::read_ops_perf(source); });
}

}  // namespace npuscope
