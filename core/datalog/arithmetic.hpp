// Numbers in rules: integers, expressions over them, and constraints between expressions.
//
// Relations hold numbers as they hold objects: as ids, so that joins, indexes and derivations need
// not tell them apart. Equal numbers have equal ids; their order is that of the values.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "util/intern_table.hpp"

namespace planlog {

using NumberId = uint32_t;

class NumberTable {
  public:
    NumberId intern(int64_t value);
    int64_t operator[](NumberId id) const { return values_[id]; }
    const std::vector<int64_t>& values() const { return values_; }  // by their ids

  private:
    std::vector<int64_t> values_;
    InternTable numbers_;
};

// A result that does not fit into 64 bits, or a least value that is smaller than those it comes
// from.
struct NumberError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// An expression in postfix order.
struct Expression {
    enum class Kind : uint8_t { Number, Variable, Add, Subtract, Multiply };
    struct Part {
        Kind kind;
        int64_t number = 0;     // Number
        uint32_t variable = 0;  // Variable
    };
    std::vector<Part> parts;

    // The values of variables are ids of numbers. Throws NumberError.
    int64_t value(const uint32_t* binding, const NumberTable& numbers) const;
    // The variable that the expression consists of.
    std::optional<uint32_t> variable() const {
        if (parts.size() != 1 || parts[0].kind != Kind::Variable) return std::nullopt;
        return parts[0].variable;
    }
    bool is_bound(const std::vector<bool>& bound) const;  // whether all variables have values
    // Whether the parts form one expression over some of the first `variable_count` variables.
    bool is_valid(uint32_t variable_count) const;
};

struct Constraint {
    enum class Relation : uint8_t { Equal, Unequal, Less, LessOrEqual };
    Expression left;
    Relation relation;
    Expression right;

    bool holds(const uint32_t* binding, const NumberTable& numbers) const;
    // The variable that the constraint, an equation, gives a value if these variables have one.
    std::optional<uint32_t> assigned(const std::vector<bool>& bound) const;
};

}  // namespace planlog
