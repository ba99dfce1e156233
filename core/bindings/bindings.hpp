// The border to Python: thin. Names and small descriptions cross as tuples, all that grows
// with the task as arrays. Each part of it is bound by a function of its own.
#pragma once

#include "bindings/shared.hpp"

namespace planlog {

void bind_tasks(nb::module_& m);
void bind_rules(nb::module_& m);
void bind_walks(nb::module_& m);
void bind_spaces(nb::module_& m);
void bind_circuits(nb::module_& m);
void bind_graphs(nb::module_& m);
void bind_searches(nb::module_& m);

}  // namespace planlog
