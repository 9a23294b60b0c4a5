// A local static variable is initialised once, whoever comes first; the others wait.
#include <cassert>
#include <thread>

struct settings {
    int value;
    settings() : value(0) { value = 5; }
};

static settings &instance() {
    static settings only;
    return only;
}

int main() {
    std::thread other([] { assert(instance().value == 5); });
    assert(instance().value == 5);
    other.join();
}
