// Workers in a std::vector of threads, with jobs in std::function: virtual calls, captures, strings.
#include <atomic>
#include <cassert>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

struct job {
    virtual ~job() = default;
    virtual int run() const = 0;
};

struct length : job {
    std::string text;
    explicit length(std::string text) : text(std::move(text)) {}
    int run() const override { return static_cast<int>(text.size()); }
};

int main() {
    std::atomic<int> sum{0};
    std::vector<std::unique_ptr<job>> jobs;
    jobs.push_back(std::make_unique<length>("one"));
    jobs.push_back(std::make_unique<length>("a text that is too long to be kept in place"));
    std::vector<std::thread> workers;
    for (auto &next : jobs) {
        std::function<void()> work = [&sum, &next] {
            sum.fetch_add(next->run(), std::memory_order_relaxed);
        };
        workers.emplace_back(work);
    }
    for (auto &worker : workers)
        worker.join();
    assert(sum == 3 + 43);
}
