// C++: two std::threads hand a value over by a std::atomic, and count with another one.
//
// With -DRELAXED the flag is set by a relaxed store; the processor keeps stores in order, so under
// tso that does no harm in the binary, whatever the language says of it.
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> counter{0};
static std::atomic<bool> ready{false};
static int payload;

#ifdef RELAXED
static constexpr auto publish = std::memory_order_relaxed;
#else
static constexpr auto publish = std::memory_order_release;
#endif

static void writer() {
  payload = 42;
  ready.store(true, publish);
  counter.fetch_add(1);
}

static void reader() {
  if (ready.load(std::memory_order_acquire))
    assert(payload == 42);
  counter.fetch_add(2);
}

int main() {
  std::thread first(writer), second(reader);
  first.join();
  second.join();
  assert(counter == 3);
}
