// BUG: one std::shared_ptr is read by a thread while another one gives it a new value: it counts
// atomically, but it is no atomic object itself.
#include <memory>
#include <thread>

static std::shared_ptr<int> current = std::make_shared<int>(1);

int main() {
    std::thread reader([] { std::shared_ptr<int> copy = current; });
    current = std::make_shared<int>(2);
    reader.join();
}
