// What nearly every file includes, parsed once for each way of compiling (npuscope_precompile in
// cmake/layers.cmake). Files include what they need themselves: presets without batches have no
// precompiled headers.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <tl/expected.hpp>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

// libfmt exports it, and its header does not say so: each unit that formats compiled it again, 1 to
// 2 seconds of processor time.
extern template void fmt::detail::vformat_to<char>(buffer<char>&, string_view,
                                                   basic_format_args<buffer_context<char>>,
                                                   locale_ref);
