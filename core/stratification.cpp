#include "stratification.hpp"

#include <algorithm>
#include <vector>

namespace planlog {

namespace {

struct Edge {
    uint32_t to;
    bool negated;
};
using Graph = std::vector<std::vector<Edge>>;

// For each predicate the number of its strongly connected component (Tarjan's algorithm,
// with a stack of its own since chains of predicates can be long).
std::vector<uint32_t> components(const Graph& graph) {
    constexpr uint32_t unseen = UINT32_MAX;
    std::vector<uint32_t> order(graph.size(), unseen), low(graph.size()), component(graph.size());
    std::vector<bool> on_stack(graph.size());
    std::vector<uint32_t> stack;
    std::vector<std::pair<uint32_t, size_t>> calls;  // a predicate and its next edge
    uint32_t visited = 0, found = 0;
    for (uint32_t root = 0; root < graph.size(); ++root) {
        if (order[root] != unseen) continue;
        calls.push_back({root, 0});
        while (!calls.empty()) {
            auto& [node, edge] = calls.back();
            if (edge == 0) {
                order[node] = low[node] = visited++;
                stack.push_back(node);
                on_stack[node] = true;
            } else {
                const uint32_t to = graph[node][edge - 1].to;
                if (on_stack[to]) low[node] = std::min(low[node], low[to]);
            }
            while (edge < graph[node].size() && order[graph[node][edge].to] != unseen) {
                const uint32_t to = graph[node][edge++].to;
                if (on_stack[to]) low[node] = std::min(low[node], order[to]);
            }
            if (edge < graph[node].size()) {
                calls.push_back({graph[node][edge++].to, 0});
                continue;
            }
            if (low[node] == order[node]) {
                for (bool more = true; more;) {
                    const uint32_t member = stack.back();
                    stack.pop_back();
                    on_stack[member] = false;
                    component[member] = found;
                    more = member != node;
                }
                ++found;
            }
            calls.pop_back();
        }
    }
    return component;
}

// A shortest way from one predicate to another of its component, as edges.
std::vector<Edge> shortest_path(const Graph& graph, const std::vector<uint32_t>& component,
                                uint32_t from, uint32_t to) {
    if (from == to) return {};
    std::vector<Edge> reached_by(graph.size());  // here `to` is where the edge comes from
    std::vector<bool> seen(graph.size());
    std::vector<uint32_t> queue = {from};
    seen[from] = true;
    for (size_t i = 0; i < queue.size() && !seen[to]; ++i) {
        for (const Edge edge : graph[queue[i]]) {
            if (seen[edge.to] || component[edge.to] != component[from]) continue;
            seen[edge.to] = true;
            reached_by[edge.to] = {queue[i], edge.negated};
            queue.push_back(edge.to);
        }
    }
    std::vector<Edge> path;
    for (uint32_t node = to; node != from; node = reached_by[node].to)
        path.push_back({node, reached_by[node].negated});
    std::reverse(path.begin(), path.end());
    return path;
}

// The cycle in the words of the user: auxiliary predicates are passed over, a step is
// negated if an odd number of the negations within it is.
NegativeCycle describe_cycle(const Domain& domain, std::vector<Edge> cycle) {
    const auto declared = [&](Edge edge) {
        return domain.predicates[edge.to].kind == PredicateKind::Derived;
    };
    // Auxiliary predicates depend on later ones only, so each cycle has a declared one.
    std::rotate(cycle.begin(), std::find_if(cycle.begin(), cycle.end(), declared) + 1, cycle.end());
    NegativeCycle result{PredicateId{cycle.back().to}, {}, true};
    const auto name = [&](uint32_t id) { return "'" + domain.predicates[id].name + "'"; };
    result.path = name(cycle.back().to);
    bool negated = false;
    for (const Edge edge : cycle) {
        negated = negated != edge.negated;
        if (!declared(edge)) continue;
        if (negated) result.only_forall = false;
        result.path += (negated ? " -> not " : " -> ") + name(edge.to);
        negated = false;
    }
    return result;
}

}  // namespace

std::optional<NegativeCycle> find_negative_cycle(const Domain& domain) {
    Graph graph(domain.predicates.size());
    for (const Axiom& axiom : domain.axioms)
        for (const Literal& literal : axiom.body)
            if (literal.kind == LiteralKind::Atom)
                graph[index(axiom.head)].push_back({index(literal.predicate), literal.negated});
    const std::vector<uint32_t> component = components(graph);
    for (uint32_t from = 0; from < graph.size(); ++from) {
        for (const Edge edge : graph[from]) {
            if (!edge.negated || component[edge.to] != component[from]) continue;
            std::vector<Edge> cycle = {edge};
            for (const Edge step : shortest_path(graph, component, edge.to, from))
                cycle.push_back(step);
            return describe_cycle(domain, std::move(cycle));
        }
    }
    return {};
}

}  // namespace planlog
