// BUG: the object is deleted by a pointer to its base, which has no virtual destructor.
#include <memory>

struct shape {
    int sides = 0;
};

struct square : shape {
    long side = 2;
};

int main() {
    std::unique_ptr<shape> one(new square);
}
