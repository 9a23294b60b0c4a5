//! => sc: safe; tso: safe
//! -DRELAXED => tso: unsafe
//! -DTHROW => tso: unknown an exception is thrown
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct Shape {
  virtual int area() const = 0;
  virtual ~Shape() {}
};

struct Square : Shape {
  int side;
  explicit Square(int side) : side(side) {}
  int area() const override { return side * side; }
};

std::mutex mutex;
int counter, made;
std::atomic<int> x, y;
int first, second;

static Square &square() {
  static Square *one = (made++, new Square(3));
  return *one;
}

#ifdef RELAXED
// Written out, so that it is the same without optimisation.
#define store(place) __asm__ volatile("movl $1, %0" : "=m"(place) :: "memory")
#else
#define store(place) __asm__ volatile("movl $1, %0; mfence" : "=m"(place) :: "memory")
#endif

static void left(int n) {
  store(x);
  first = y;
  std::lock_guard<std::mutex> guard(mutex);
  counter += n;
}

static void right() {
  store(y);
  second = x;
  std::lock_guard<std::mutex> guard(mutex);
  counter += 2;
}

int main() {
#ifdef THROW
  if (!counter)
    throw 1;
#endif
  std::unique_ptr<Shape> shape(new Square(2));
  assert(shape->area() == 4 && square().area() == 9 && square().side == 3 && made == 1);
  std::vector<int> numbers;
  for (int i = 0; i < 3; i++)
    numbers.push_back(i);
  assert(numbers[2] == 2);
  std::thread a(left, 1), b(right);
  a.join();
  b.join();
  assert(counter == 3);
  assert(first || second);
  return 0;
}
