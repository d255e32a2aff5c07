#include "formats/sigmastar/core_agreement.hpp"

#include <tuple>

#include "base/sort_rows.hpp"

namespace npuscope::sigmastar {

CoreAgreement compare_cores(std::vector<CoreLayer> layers) {
  sort_rows(layers.begin(), layers.end(), [](const CoreLayer& a, const CoreLayer& b) {
    return std::tie(a.layer, a.core, a.begin) < std::tie(b.layer, b.core, b.begin);
  });
  CoreAgreement agreement;
  for (std::size_t first = 0; first < layers.size();) {
    const auto is_same = [&](std::size_t i) {
      return i < layers.size() && layers[i].layer == layers[first].layer;
    };
    std::size_t others = first;  // of the first core that has the layer
    while (is_same(others) && layers[others].core == layers[first].core) ++others;
    std::size_t nth = first;
    std::size_t i = others;
    for (; is_same(i); ++i, ++nth) {
      if (layers[i].core != layers[i - 1].core) nth = first;
      if (nth >= others) continue;
      ++agreement.shared;
      agreement.apart += layers[i].begin > layers[nth].end || layers[nth].begin > layers[i].end;
    }
    first = i;
  }
  return agreement;
}

}  // namespace npuscope::sigmastar
