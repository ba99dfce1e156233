// Directed graphs as flat arrays: the arcs of node v are those from offsets[v] up to offsets[v +
// 1], and arc a leads to targets[a].
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace planlog {

struct Graph {
    std::span<const uint32_t> offsets;
    std::span<const uint32_t> targets;
    size_t size;  // number of nodes; those after the end of `offsets` have no arcs

    std::span<const uint32_t> successors(uint32_t node) const {
        if (node + 1 >= offsets.size()) return {};
        return targets.subspan(offsets[node], offsets[node + 1] - offsets[node]);
    }
};

// The graph with all arcs reversed. Arc i is arc arcs[i] of the original.
struct ReversedGraph {
    std::vector<uint32_t> offsets;
    std::vector<uint32_t> targets;
    std::vector<uint32_t> arcs;
};
ReversedGraph reversed(const Graph& graph);

constexpr int32_t not_reached = -1;

// Returns the least number of arcs from any of the sources to each node (breadth-first search).
std::vector<int32_t> distances(const Graph& graph, std::span<const uint32_t> sources);

// Returns the least cost of a path from any of the sources to each node (Dijkstra 1959). Arc a
// costs costs[a], which must not be negative. Throws std::overflow_error if a node is reached, but
// every path to it costs more than fits.
std::vector<int64_t> least_costs(const Graph& graph, std::span<const int64_t> costs,
                                 std::span<const uint32_t> sources);

// Returns the strongly connected component of each node (Tarjan 1972). Every arc leads to the same
// component or to one with a smaller number.
std::vector<uint32_t> strong_components(const Graph& graph);

}  // namespace planlog
