// A library that is opened when it is needed, where linking it would make every start slower.
//
//   if (const LoadedLibrary curl = LoadedLibrary::open("libcurl.so.4")) curl.find("curl_easy_init",
//   init);
#pragma once

#include <dlfcn.h>

#include <memory>

namespace npuscope {

class LoadedLibrary {
 public:
  // False: there is none of that name.
  static LoadedLibrary open(const char* name) {
    LoadedLibrary library;
    library.handle_.reset(::dlopen(name, RTLD_NOW | RTLD_LOCAL));
    return library;
  }

  explicit operator bool() const { return handle_ != nullptr; }
  // Of the type that its header declares; false: it has no such function.
  template <class Function>
  bool find(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(::dlsym(handle_.get(), name));
    return function != nullptr;
  }
  void keep() { handle_.release(); }  // for as long as the process lives

 private:
  struct Close {
    void operator()(void* handle) const { ::dlclose(handle); }
  };

  std::unique_ptr<void, Close> handle_;
};

}  // namespace npuscope
