// Exact costs: decimal numbers as files write them, and costs in a unit that a whole task shares.
//
// The unit of a task is 10^-d, where d is the greatest number of decimals that its domain and its
// problem write. So every cost is a whole number of units, and sums are exact.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace planlog {

// A sum of costs that is too large.
struct CostOverflow : std::runtime_error {
    CostOverflow() : std::runtime_error("a sum of costs is too large") {}
};

// A cost in units of its task. Sums and differences throw CostOverflow rather than be wrong.
class Cost {
  public:
    constexpr Cost() = default;
    constexpr explicit Cost(int64_t units) : units_(units) {}

    constexpr int64_t units() const { return units_; }
    constexpr auto operator<=>(const Cost&) const = default;
    friend constexpr Cost operator+(Cost one, Cost other) {
        int64_t sum = 0;
        if (__builtin_add_overflow(one.units_, other.units_, &sum)) throw CostOverflow();
        return Cost(sum);
    }
    friend constexpr Cost operator-(Cost one, Cost other) {
        int64_t difference = 0;
        if (__builtin_sub_overflow(one.units_, other.units_, &difference)) throw CostOverflow();
        return Cost(difference);
    }
    constexpr Cost& operator+=(Cost other) { return *this = *this + other; }
    constexpr Cost& operator-=(Cost other) { return *this = *this - other; }

  private:
    int64_t units_ = 0;
};

// The number digits · 10^-decimals, with as few decimals as possible.
struct Decimal {
    static constexpr uint32_t max_decimals = 18;
    int64_t digits = 0;
    uint32_t decimals = 0;

    std::string text() const;
};

enum class NumberSize : uint8_t { Fits, TooLarge, TooPrecise };
struct Number {
    NumberSize size = NumberSize::Fits;
    Decimal value;  // if it fits

    bool is_zero() const { return size == NumberSize::Fits && value.digits == 0; }
};
// Reads a number such as 12, -0.5, .5 or 2.5e-3. Returns nothing for any other text.
std::optional<Number> parse_number(std::string_view text);

// The costs that a domain or a task gives, in one unit.
struct CostTable {
    uint32_t decimals = 0;  // of the unit
    std::vector<Cost> constants;
    // Values of each function of the domain, by the bytes of the argument row.
    std::vector<std::unordered_map<std::string, Cost>> function_values;

    // Returns a number, which must not be negative, in the unit. Makes the unit finer if the number
    // has more decimals. Returns nothing, and changes nothing, if this or an earlier number would
    // become too large.
    std::optional<Cost> in_unit(Decimal number);

  private:
    Cost largest_;  // of the numbers so far
};

}  // namespace planlog
