// BUG: a detached thread goes on while the global objects are destroyed at the end of the program.
#include <atomic>
#include <thread>

struct log {
    int *lines = new int(0);
    ~log() { delete lines; }
};

static log messages;
static std::atomic<bool> started{false};

int main() {
    std::thread worker([] {
        started = true;
        (*messages.lines)++;
    });
    worker.detach();
    while (!started)
        ;
}
