// Algorithms on graphs that Python gives as arrays, and the watchdog.
#include "bindings/bindings.hpp"
#include "util/graph.hpp"

namespace planlog {
namespace {

using CostArray = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Graph as_graph(IdArray offsets, IdArray targets, size_t size) {
    if (offsets.size() == 0 || offsets.size() > size + 1 || offsets(0) != 0 ||
        offsets(offsets.size() - 1) != targets.size())
        throw nb::value_error("offsets must lead from 0 to the number of arcs");
    if (size > UINT32_MAX) throw nb::value_error("too many nodes");
    for (size_t i = 0; i + 1 < offsets.size(); ++i)
        if (offsets(i) > offsets(i + 1)) throw nb::value_error("offsets must not decrease");
    return {{offsets.data(), offsets.size()}, checked(targets, size, "no such node"), size};
}

nb::tuple reversed_arrays(IdArray offsets, IdArray targets, size_t size) {
    ReversedGraph result = reversed(as_graph(offsets, targets, size));
    return nb::make_tuple(as_array(std::move(result.offsets)), as_array(std::move(result.targets)),
                          as_array(std::move(result.arcs)));
}

auto distance_array(IdArray offsets, IdArray targets, size_t size, IdArray sources) {
    const Graph graph = as_graph(offsets, targets, size);
    return as_array(distances(graph, checked(sources, size, "no such node")));
}

auto cost_array(IdArray offsets, IdArray targets, size_t size, CostArray costs, IdArray sources) {
    const Graph graph = as_graph(offsets, targets, size);
    const std::span given(costs.data(), costs.size());
    if (given.size() != graph.targets.size()) throw nb::value_error("every arc needs a cost");
    if (std::ranges::any_of(given, [](int64_t cost) { return cost < 0; }))
        throw nb::value_error("costs must not be negative");
    return as_array(least_costs(graph, given, checked(sources, size, "no such node")));
}

auto component_array(IdArray offsets, IdArray targets, size_t size) {
    return as_array(strong_components(as_graph(offsets, targets, size)));
}

void set_ending(StopReason reason, nb::bytes output, nb::bytes message, int exit_code) {
    Watchdog::instance().set_ending(
        reason, {{output.c_str(), output.size()}, {message.c_str(), message.size()}, exit_code});
}

}  // namespace

void bind_watchdog(nb::module_& m) {
    static Watchdog& watchdog = Watchdog::instance();
    nb::enum_<StopReason>(m, "StopReason")
        .value("NONE", StopReason::None)
        .value("TIME", StopReason::Time)
        .value("MEMORY", StopReason::Memory)
        .value("INTERRUPT", StopReason::Interrupt)
        .value("TERMINATE", StopReason::Terminate);
    nb::class_<Watchdog>(m, "Watchdog")
        .def_static(
            "watch",
            [](std::optional<double> seconds, std::optional<size_t> memory) {
                watchdog.watch(seconds, memory);
            },
            "seconds"_a.none(), "memory"_a.none())
        .def_static("rest", [] { watchdog.rest(); })
        .def_static("signal_pipe", [] { return watchdog.signal_pipe(); })
        .def_static("set_ending", &set_ending, "reason"_a, "output"_a, "message"_a, "exit_code"_a)
        .def_static(
            "set_patience", [](double seconds) { watchdog.set_patience(seconds); }, "seconds"_a)
        .def_static(
            "set_stops_work", [](bool value) { watchdog.set_stops_work(value); }, "value"_a)
        .def_static("reason", [] { return watchdog.reason(); });
    m.def("resident_memory", &resident_memory);
}

void bind_graphs(nb::module_& m) {
    m.def("reverse", &reversed_arrays, "offsets"_a, "targets"_a, "size"_a);
    m.def("distances", &distance_array, "offsets"_a, "targets"_a, "size"_a, "sources"_a);
    m.def("least_costs", &cost_array, "offsets"_a, "targets"_a, "size"_a, "costs"_a, "sources"_a);
    m.def("components", &component_array, "offsets"_a, "targets"_a, "size"_a);
}

}  // namespace planlog
