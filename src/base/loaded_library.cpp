#include "base/loaded_library.hpp"

#include <dlfcn.h>

namespace npuscope {

LoadedLibrary LoadedLibrary::open(const char* name) {
  LoadedLibrary library;
  library.handle_.reset(::dlopen(name, RTLD_NOW | RTLD_LOCAL));
  return library;
}

void LoadedLibrary::Close::operator()(void* handle) const { ::dlclose(handle); }

void* LoadedLibrary::address_of(const char* name) const { return ::dlsym(handle_.get(), name); }

}  // namespace npuscope
