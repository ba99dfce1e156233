// The types of the tuples that cross the border to Python. Stub generation (_core.pyi) shows them.
#pragma once

#include "bindings/shared.hpp"

namespace planlog {

// An atom or an action: the numbers of its symbol and of its objects.
using GroundTuple = nb::typed<nb::tuple, uint32_t, nb::typed<nb::tuple, uint32_t, nb::ellipsis>>;
using GroundTuples = nb::typed<nb::list, GroundTuple>;

template <class Symbol>
GroundTuple as_tuple(Symbol symbol, const ObjectId* values, size_t arity) {
    return nb::make_tuple(index(symbol),
                          nb::tuple(nb::cast(std::vector<ObjectId>(values, values + arity))));
}

// Terms are numbers: variable v is v, constant c is -1 - c.
using TermCodes = std::vector<int32_t>;

inline TermCodes as_codes(const std::vector<Term>& terms) {
    TermCodes codes;
    for (Term term : terms) {
        const auto value = static_cast<int32_t>(term.value);
        codes.push_back(term.is_variable ? value : -1 - value);
    }
    return codes;
}

inline Term as_term(int32_t code) {
    return code >= 0 ? Term::variable(static_cast<uint32_t>(code))
                     : Term::object(static_cast<uint32_t>(-1 - code));
}

}  // namespace planlog
