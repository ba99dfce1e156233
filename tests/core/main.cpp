// Runs the unit tests of the core. Prints the checks that fail; exits with 1 if there are any.
#include <cstdio>
#include <exception>

#include "check.hpp"

int main() {
    int failures = 0;
    for (const auto& [name, run] : planlog::testing::test_cases()) {
        try {
            run();
        } catch (const std::exception& error) {
            ++failures;
            std::printf("%s failed: %s\n", name, error.what());
        }
    }
    std::printf("%zu tests, %d failed\n", planlog::testing::test_cases().size(), failures);
    return failures > 0;
}
