// A pointer that counts its copies: whoever lets go of the last one deletes the object.
#include <atomic>
#include <cassert>
#include <thread>
#include <utility>

struct object {
    std::atomic<int> users{1};
    int value = 1;
};

class counted {
    object *target;

public:
    counted() : target(new object) {}
    counted(const counted &other) : target(other.target) {
        target->users.fetch_add(1, std::memory_order_relaxed);
    }
    ~counted() {
        if (target->users.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete target;
    }
    object *operator->() const { return target; }
};

int main() {
    counted mine;
    std::thread other([copy = counted(mine)] { assert(copy->value == 1); });
    other.detach();
    assert(mine->value == 1);
}
