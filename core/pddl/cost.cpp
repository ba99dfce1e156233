#include "pddl/cost.hpp"

#include <algorithm>
#include <charconv>

namespace planlog {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Removes the digits at the beginning of the text and returns them.
std::string_view take_digits(std::string_view& text) {
    const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
    const auto digits = text.substr(0, static_cast<size_t>(end - text.begin()));
    text.remove_prefix(digits.size());
    return digits;
}

// Removes a sign at the beginning of the text. Returns whether it is a minus.
bool take_sign(std::string_view& text) {
    const bool is_negative = text.starts_with('-');
    if (is_negative || text.starts_with('+')) text.remove_prefix(1);
    return is_negative;
}

// The number times 10^exponent, unless it is too large.
std::optional<int64_t> scaled(int64_t number, uint32_t exponent) {
    for (; exponent > 0 && number != 0; --exponent)
        if (__builtin_mul_overflow(number, 10, &number)) return std::nullopt;
    return number;
}

// Exponents beyond this are all the same: no text has so many digits.
constexpr int64_t huge = int64_t{1} << 40;

int64_t parse_exponent(std::string_view digits, bool is_negative) {
    int64_t value = huge;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);  // huge if it overflows
    value = std::min(value, huge);
    return is_negative ? -value : value;
}

}  // namespace

std::optional<Number> parse_number(std::string_view text) {
    const bool is_negative = take_sign(text);
    const std::string_view whole = take_digits(text);
    std::string_view fraction;
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        fraction = take_digits(text);
    }
    if (whole.empty() && fraction.empty()) return std::nullopt;
    int64_t exponent = 0;
    if (text.starts_with('e') || text.starts_with('E')) {
        text.remove_prefix(1);
        const bool has_negative_exponent = take_sign(text);
        const std::string_view digits = take_digits(text);
        if (digits.empty()) return std::nullopt;
        exponent = parse_exponent(digits, has_negative_exponent);
    }
    if (!text.empty()) return std::nullopt;

    std::string digits = std::string(whole) + std::string(fraction);
    exponent -= static_cast<int64_t>(fraction.size());
    const size_t last = digits.find_last_not_of('0');
    if (last == digits.npos) return Number{};
    exponent += static_cast<int64_t>(digits.size() - 1 - last);
    digits.resize(last + 1);

    const auto decimals = static_cast<uint64_t>(std::max<int64_t>(-exponent, 0));
    if (decimals > Decimal::max_decimals) return Number{NumberSize::TooPrecise, {}};
    int64_t value = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const auto zeros = static_cast<uint32_t>(std::clamp<int64_t>(exponent, 0, UINT32_MAX));
    const auto result = scaled(value, zeros);
    if (parsed.ec != std::errc{} || !result) return Number{NumberSize::TooLarge, {}};
    return Number{NumberSize::Fits,
                  {is_negative ? -*result : *result, static_cast<uint32_t>(decimals)}};
}

std::string Decimal::text() const {
    std::string text = std::to_string(digits);
    if (decimals == 0) return text;
    const size_t sign = digits < 0;
    if (text.size() <= sign + decimals) text.insert(sign, sign + decimals + 1 - text.size(), '0');
    return text.insert(text.size() - decimals, ".");
}

std::optional<Cost> CostTable::in_unit(Decimal number) {
    const uint32_t finest = std::max(decimals, number.decimals);
    const auto units = scaled(number.digits, finest - number.decimals);
    const auto largest = scaled(largest_.units(), finest - decimals);
    if (!units || !largest) return std::nullopt;
    const auto refine = [&](Cost& cost) { cost = Cost(*scaled(cost.units(), finest - decimals)); };
    if (finest > decimals) {
        std::ranges::for_each(constants, refine);
        for (auto& values : function_values)
            for (auto& [row, cost] : values) refine(cost);
    }
    decimals = finest;
    largest_ = Cost(std::max(*largest, *units));
    return Cost(*units);
}

}  // namespace planlog
