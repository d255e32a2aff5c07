#!/usr/bin/env bash
# g++ 12.2.0 and simdjson 3.0.1 (Debian 12): a precompiled header decides how a unit is optimised.
#
# simdjson.h selects instruction sets with `#pragma GCC push_options`, `target` and `pop_options`. Where the unit reads a
# precompiled header that was made with another -O, what pop_options restores are the options of that header, not those of
# the command line: everything after simdjson.h is compiled as the header was. -Winvalid-pch says nothing, since g++ allows
# headers of another -O. Without simdjson.h the command line counts. Seen: a function after the include, compiled with -Og
# and a header made with -O3, is the code of -O3; alone it is that of -Og.
# A project with several levels of optimisation needs a precompiled header for each.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt-get download -q libsimdjson-dev=3.0.1-1 >/dev/null 2>&1
dpkg-deb -x libsimdjson-dev_*.deb root
[[ $(g++ -dumpfullversion) == 12.2.0 ]] || { echo "this needs g++ 12.2.0"; exit 2; }

cat >common.hpp <<'EOF'
#include <vector>
EOF
cat >plain.cpp <<'EOF'
#include "common.hpp"
int sum(const std::vector<int>& values) {
  int total = 0;
  for (int value : values) total += value;
  return total;
}
EOF
{ head -n 1 plain.cpp; echo '#include <simdjson.h>'; tail -n +2 plain.cpp; } >after_simdjson.cpp
mkdir precompiled
g++ -std=c++20 -O3 -x c++-header common.hpp -o precompiled/common.hpp.gch
cp common.hpp precompiled/

# size_of UNIT FLAGS...: of the function `sum`.
size_of() {
  local unit=$1
  shift
  g++ -std=c++20 -Iroot/usr/include -Winvalid-pch -Werror=invalid-pch "$@" -c "$unit.cpp" -o unit.o
  nm -S -C unit.o | awk '/ T sum\(/ {print $2}'
}

echo "sum(), bytes (hexadecimal):"
for unit in plain after_simdjson; do
  slow=$(size_of "$unit" -Og) fast=$(size_of "$unit" -O3)
  mixed=$(size_of "$unit" -Og -include precompiled/common.hpp)
  echo "$unit: -Og $slow, -O3 $fast, -Og with a header precompiled with -O3 $mixed"
  case $unit in
    plain) [[ $mixed == "$slow" && $slow != "$fast" ]] ;;
    after_simdjson) [[ $mixed == "$fast" && $slow != "$fast" ]] ;;
  esac || { echo "not as described"; exit 1; }
done
