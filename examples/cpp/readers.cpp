// std::shared_mutex: two readers at a time, or one writer.
#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex mutex;
static int low, high;

static void read() {
    std::shared_lock<std::shared_mutex> hold(mutex);
    assert(low == high);
}

int main() {
    std::thread reader(read);
    {
        std::unique_lock<std::shared_mutex> hold(mutex);
        low++;
        high++;
    }
    read();
    reader.join();
}
