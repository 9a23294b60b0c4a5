// std::scoped_lock takes two mutexes in any order without a deadlock.
#include <cassert>
#include <mutex>
#include <thread>

struct account {
    std::mutex mutex;
    int money = 10;
};

static void move(account &from, account &to) {
    std::scoped_lock hold(from.mutex, to.mutex);
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
