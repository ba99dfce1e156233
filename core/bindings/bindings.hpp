// The functions that bind the core to Python, one for each part. Names and small descriptions cross
// the border as tuples, data that grows with the task as arrays.
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
