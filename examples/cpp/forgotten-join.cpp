// BUG: where there is nothing to do the thread is not joined, and its destructor ends the program.
#include <atomic>
#include <thread>

static std::atomic<bool> done{false};

int main() {
    std::thread worker([] { done = true; });
    if (!done)
        return 0;
    worker.join();
}
