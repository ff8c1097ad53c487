// The standard library of C++ makes much debug information of few lines. The benchmark links many copies of this file.
#include <regex>
#include <iostream>
#include <map>
#include <unordered_map>
#include <future>
#include <random>
#include <algorithm>
#include <functional>
#include <sstream>
#include <filesystem>
int words(const std::string &s) { std::regex r("a*b|c+"); std::sregex_iterator i(s.begin(), s.end(), r), e; return (int)std::distance(i, e); }
double numbers(int n) { std::mt19937_64 g(n); std::normal_distribution<double> d; std::vector<double> v; for (int i = 0; i < n; i++) v.push_back(d(g)); std::sort(v.begin(), v.end()); std::stable_sort(v.begin(), v.end(), std::greater<double>()); return v.at(0); }
int later(int n) { auto f = std::async([n] { std::unordered_map<std::string, std::vector<int>> m; m[std::to_string(n)].push_back(n); return (int)m.size(); }); return f.get(); }
std::string files(const char *p) { std::ostringstream o; for (auto &e : std::filesystem::recursive_directory_iterator(p)) o << e.path(); return o.str(); }
extern "C" { void *__dso_handle; }
