// RE2's objects, made so that an allocation which fails meanwhile ends the program with that
// exception: one that unwinds RE2's constructors corrupts the heap.
//
//   without_unwinding([&] { expression.emplace(text, options); });
//
// One thread at a time: what allocations do when they fail is a setting of the whole program.
#pragma once

#include <functional>

namespace npuscope {

void without_unwinding(const std::function<void()>& make);

}  // namespace npuscope
