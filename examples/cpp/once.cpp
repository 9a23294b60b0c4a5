// std::call_once: one of the callers runs the function, the others wait until it is done.
#include <cassert>
#include <mutex>
#include <thread>

static std::once_flag flag;
static int value;

static int get() {
    std::call_once(flag, [] { value++; });
    return value;
}

int main() {
    std::thread other([] { assert(get() == 1); });
    assert(get() == 1);
    other.join();
}
