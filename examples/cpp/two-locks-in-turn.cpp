// BUG: each thread takes its own account first: both have one mutex then, and wait for the other.
#include <cassert>
#include <mutex>
#include <thread>

struct account {
    std::mutex mutex;
    int money = 10;
};

static void move(account &from, account &to) {
    std::lock_guard<std::mutex> first(from.mutex);
    std::lock_guard<std::mutex> second(to.mutex);
    from.money--;
    to.money++;
}

int main() {
    account a, b;
    std::thread other([&] { move(a, b); });
    move(b, a);
    other.join();
    assert(a.money == 10 && b.money == 10);
}
