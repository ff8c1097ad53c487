#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace lattice {
namespace {
int twice(int n) { std::printf("%d\n", n); return 2 * n; }
}

template <class T> class Field {
public:
    explicit Field(int n) : cells(n) { std::puts("made"); }
    virtual ~Field() { std::puts("gone"); }
    T sum(int (*f)(int)) const
    {
        T s = 0;
        for (auto &c : cells)
            s += c + f(static_cast<int>(c));
        return s;
    }
    Field &operator+=(const Field &o);
    std::vector<T> cells;
};

template <class T> Field<T> &Field<T>::operator+=(const Field &o)
{
    for (size_t i = 0; i < cells.size(); i++)
        cells.at(i) += o.cells.at(i);
    return *this;
}

template class Field<double>;
}

extern "C" int plain(std::map<std::string, int> &counts, const std::string &key)
{
    struct Local { int value(int n) { std::puts("local"); return n; } };
    auto add = [&](int n) { counts[key] += n; std::puts("added"); return Local().value(n); };
    std::vector<int> v{3, 1, 2};
    std::sort(v.begin(), v.end(), [](int a, int b) { std::puts("less"); return a < b; });
    try {
        return add(lattice::twice(v.at(1)));
    } catch (const std::exception &e) {
        std::puts(e.what());
        return 0;
    }
}

int main(int argc, char **)
{
    lattice::Field<double> a(argc), b(argc);
    a += b;
    std::map<std::string, int> counts;
    return static_cast<int>(a.sum(lattice::twice)) + plain(counts, "key");
}
