// BUG: double-checked locking with a plain pointer: the first look at it races with the one who sets it.
#include <cassert>
#include <mutex>
#include <thread>

struct settings {
    int value = 5;
};

static std::mutex mutex;
static settings *only;

static settings &instance() {
    if (!only) {
        std::lock_guard<std::mutex> hold(mutex);
        if (!only)
            only = new settings;
    }
    return *only;
}

int main() {
    std::thread other([] { assert(instance().value == 5); });
    assert(instance().value == 5);
    other.join();
}
