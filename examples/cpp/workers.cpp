// Workers in a std::vector of threads, with jobs that are called by way of a base class.
#include <atomic>
#include <cassert>
#include <memory>
#include <thread>
#include <vector>

struct job {
    virtual ~job() = default;
    virtual int run() const = 0;
};

struct twice : job {
    int number;
    explicit twice(int number) : number(number) {}
    int run() const override { return 2 * number; }
};

static std::atomic<int> sum{0};

static void work(std::unique_ptr<job> next) {
    sum.fetch_add(next->run(), std::memory_order_relaxed);
}

int main() {
    std::vector<std::thread> workers;
    for (int number = 1; number <= 2; number++)
        workers.emplace_back(work, std::make_unique<twice>(number));
    for (auto &worker : workers)
        worker.join();
    assert(sum == 6);
}
