// Features of PDDL that Planlog does not support.
#pragma once

#include "pddl/names.hpp"

namespace planlog {

// Reports the unsupported features that a file uses, by their words alone, so that it is refused
// for these and not for other mistakes. Returns whether there are some. Words that the domain
// declares as predicates or functions are none.
//
// A domain is searched before its declarations are read: its names are those of `(:predicates ...)`
// and `(:functions ...)`. A problem is searched with the names of the context.
bool report_unsupported(Expr root, Context& context);

}  // namespace planlog
