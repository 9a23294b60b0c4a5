// std::jthread joins by itself when it goes out of scope.
#include <atomic>
#include <cassert>
#include <thread>

static int data;
static std::atomic<int> ready{0};

int main() {
    std::jthread worker([] {
        data = 1;
        ready.store(1, std::memory_order_release);
    });
    while (ready.load(std::memory_order_acquire) == 0)
        ;
    assert(data == 1);
}
