// An exception that is thrown and caught: nobody follows it, so the answer is unknown.
#include <stdexcept>

int main() {
    try {
        throw std::runtime_error("no");
    } catch (const std::exception &) {
        return 1;
    }
}
