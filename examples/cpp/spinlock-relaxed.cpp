// BUG: the lock is given back by a relaxed store, so what happened inside need not be visible to the next.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

class spinlock {
    std::atomic_flag taken = ATOMIC_FLAG_INIT;

public:
    void lock() {
        while (taken.test_and_set(std::memory_order_acquire))
            ;
    }
    void unlock() { taken.clear(std::memory_order_relaxed); }
};

static spinlock guard;
static int counter;

static void work() {
    std::lock_guard<spinlock> hold(guard);
    counter++;
}

int main() {
    std::thread first(work), second(work);
    first.join();
    second.join();
    assert(counter == 2);
}
