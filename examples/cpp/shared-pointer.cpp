// std::shared_ptr and std::weak_ptr across threads: the object goes with the last of its owners, once.
#include <cassert>
#include <memory>
#include <thread>

static int destroyed;

struct object {
    int value = 7;
    ~object() { destroyed++; }
};

int main() {
    auto mine = std::make_shared<object>();
    std::weak_ptr<object> seen = mine;
    std::thread owner([copy = mine] { assert(copy->value == 7); });
    std::thread watcher([seen] {
        if (auto found = seen.lock())
            assert(found->value == 7);
    });
    mine.reset();
    owner.join();
    watcher.join();
    assert(seen.expired() && destroyed == 1);
}
