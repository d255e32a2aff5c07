// Handing errors on, in functions that return a Result or a Status:
//
//   TRY(check(graph));                       a Status, or a Result whose value nobody wants
//   TRY_AS(target, find_target(name));       declares `target`, a Result that has a value
#pragma once

#include "npuscope/base/result.hpp"

#define TRY(...) \
  if (auto tried = __VA_ARGS__; !tried) return tl::unexpected(std::move(tried).error())

#define TRY_AS(result, ...)  \
  auto result = __VA_ARGS__; \
  if (!result) return tl::unexpected(std::move(result).error())
