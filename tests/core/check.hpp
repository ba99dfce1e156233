// Checks and random numbers for the unit tests of the core. A failed check ends its test.
#pragma once

#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace planlog::testing {

struct TestCase {
    const char* name;
    void (*run)();
};
inline std::vector<TestCase>& test_cases() {
    static std::vector<TestCase> cases;
    return cases;
}
struct Registration {
    Registration(const char* name, void (*run)()) { test_cases().push_back({name, run}); }
};

inline void check(bool holds, const char* expression, const char* file, int line) {
    if (!holds)
        throw std::logic_error(std::string(file) + ":" + std::to_string(line) + ": " + expression);
}

// The same numbers with every standard library, unlike std::uniform_int_distribution.
class Random {
  public:
    explicit Random(uint32_t seed) : engine_(seed) {}
    uint32_t below(uint32_t bound) { return static_cast<uint32_t>(engine_()) % bound; }
    bool chance(uint32_t percent) { return below(100) < percent; }

  private:
    std::mt19937 engine_;
};

}  // namespace planlog::testing

#define CHECK(expression) planlog::testing::check(expression, #expression, __FILE__, __LINE__)
#define TEST(name)                                                            \
    static void name();                                                       \
    static const planlog::testing::Registration register_##name{#name, name}; \
    static void name()
