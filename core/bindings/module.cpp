// The Python module `planlog._core`.
#include "bindings/bindings.hpp"

NB_MODULE(_core, m) {
    using namespace planlog;
    m.doc() = "The core of Planlog: PDDL, Datalog, state spaces, networks, search.";
    // Objects that other modules still hold at exit are not leaks of this one.
    nb::set_leak_warnings(false);
#ifdef PLANLOG_SANITIZED
    m.attr("sanitized") = true;
#else
    m.attr("sanitized") = false;
#endif
    m.attr("compiler") = __VERSION__;

    bind_tasks(m);
    bind_rules(m);
    bind_walks(m);
    bind_spaces(m);
    bind_circuits(m);
    bind_graphs(m);
    bind_searches(m);
    bind_watchdog(m);
}
