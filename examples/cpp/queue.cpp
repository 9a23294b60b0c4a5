// A queue with room for one item: a mutex, two condition variables, and a std::vector that holds the items.
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

template <typename T>
class queue {
    std::mutex mutex;
    std::condition_variable filled, emptied;
    std::vector<T> items;
    const std::size_t room;

public:
    explicit queue(std::size_t room) : room(room) { items.reserve(room); }

    void push(T item) {
        std::unique_lock<std::mutex> hold(mutex);
        emptied.wait(hold, [this] { return items.size() < room; });
        items.push_back(item);
        filled.notify_one();
    }

    T pop() {
        std::unique_lock<std::mutex> hold(mutex);
        filled.wait(hold, [this] { return !items.empty(); });
        T item = items.back();
        items.pop_back();
        emptied.notify_one();
        return item;
    }
};

int main() {
    queue<int> numbers(1);
    std::thread producer([&] { numbers.push(1); });
    assert(numbers.pop() == 1);
    producer.join();
}
