#include "datalog/arithmetic.hpp"

#include <algorithm>
#include <array>

namespace planlog {

namespace {

constexpr size_t max_depth = 64;  // of the operands of an expression

uint64_t hash_of_number(int64_t value) {
    auto x = static_cast<uint64_t>(value) * 0x9e3779b97f4a7c15ULL;
    x ^= x >> 32;
    return x * 0xd6e8feb86659fd93ULL;
}

const char* symbol_of(Expression::Kind operation) {
    return operation == Expression::Kind::Add        ? " + "
           : operation == Expression::Kind::Subtract ? " - "
                                                     : " * ";
}

int64_t result_of(Expression::Kind operation, int64_t left, int64_t right) {
    int64_t result = 0;
    bool overflows = false;
    switch (operation) {
        case Expression::Kind::Add:
            overflows = __builtin_add_overflow(left, right, &result);
            break;
        case Expression::Kind::Subtract:
            overflows = __builtin_sub_overflow(left, right, &result);
            break;
        default:
            overflows = __builtin_mul_overflow(left, right, &result);
    }
    if (overflows)
        throw NumberError("a number does not fit into 64 bits: " + std::to_string(left) +
                          symbol_of(operation) + std::to_string(right));
    return result;
}

bool is_operation(Expression::Kind kind) {
    return kind != Expression::Kind::Number && kind != Expression::Kind::Variable;
}

}  // namespace

NumberId NumberTable::intern(int64_t value) {
    const NumberId id = numbers_.find_or_add(
        hash_of_number(value), [&](NumberId other) { return values_[other] == value; });
    if (id == values_.size()) values_.push_back(value);
    return id;
}

int64_t Expression::value(const uint32_t* binding, const NumberTable& numbers) const {
    std::array<int64_t, max_depth> stack;
    size_t size = 0;
    for (const Part& part : parts) {
        if (is_operation(part.kind)) {
            --size;
            stack[size - 1] = result_of(part.kind, stack[size - 1], stack[size]);
        } else {
            stack[size++] =
                part.kind == Kind::Number ? part.number : numbers[binding[part.variable]];
        }
    }
    return stack[0];
}

bool Expression::is_valid(uint32_t variable_count) const {
    size_t size = 0;
    for (const Part& part : parts) {
        if (is_operation(part.kind)) {
            if (size < 2) return false;
            --size;
        } else {
            if (part.kind == Kind::Variable && part.variable >= variable_count) return false;
            if (++size > max_depth) return false;
        }
    }
    return size == 1;
}

bool Expression::is_bound(const std::vector<bool>& bound) const {
    return std::ranges::all_of(parts, [&](const Part& part) {
        return part.kind != Kind::Variable || bound[part.variable];
    });
}

std::optional<uint32_t> Constraint::assigned(const std::vector<bool>& bound) const {
    if (relation != Relation::Equal) return std::nullopt;
    if (const auto to = left.variable(); to && !bound[*to] && right.is_bound(bound)) return to;
    if (const auto to = right.variable(); to && !bound[*to] && left.is_bound(bound)) return to;
    return std::nullopt;
}

bool Constraint::holds(const uint32_t* binding, const NumberTable& numbers) const {
    const int64_t one = left.value(binding, numbers), other = right.value(binding, numbers);
    switch (relation) {
        case Relation::Equal:
            return one == other;
        case Relation::Unequal:
            return one != other;
        case Relation::Less:
            return one < other;
        default:
            return one <= other;
    }
}

}  // namespace planlog
