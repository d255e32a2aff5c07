// What nearly every test includes, parsed once (npuscope_precompile in cmake/layers.cmake).
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/precompiled.hpp"
