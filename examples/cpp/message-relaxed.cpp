// BUG: the pointer is published by a relaxed store, and may be seen before the message is.
#include <atomic>
#include <cassert>
#include <memory>
#include <thread>

#ifndef PUBLISH
#define PUBLISH std::memory_order_relaxed
#endif

struct message {
    int first, second;
};

static std::atomic<message *> box{nullptr};

int main() {
    std::thread sender([] { box.store(new message{1, 2}, PUBLISH); });
    std::thread receiver([] {
        if (message *found = box.load(std::memory_order_acquire))
            assert(found->first + found->second == 3);
    });
    sender.join();
    receiver.join();
    std::unique_ptr<message> last(box.load());
}
