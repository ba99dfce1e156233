#include "util/graph.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "util/radix_heap.hpp"

namespace planlog {

ReversedGraph reversed(const Graph& graph) {
    ReversedGraph result;
    result.offsets.assign(graph.size + 1, 0);
    for (uint32_t target : graph.targets) ++result.offsets[target + 1];
    std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
    result.targets.resize(graph.targets.size());
    result.arcs.resize(graph.targets.size());
    std::vector<uint32_t> next(result.offsets.begin(), result.offsets.end() - 1);
    for (uint32_t node = 0; node + 1 < graph.offsets.size(); ++node) {
        for (uint32_t arc = graph.offsets[node]; arc < graph.offsets[node + 1]; ++arc) {
            const uint32_t place = next[graph.targets[arc]]++;
            result.targets[place] = node;
            result.arcs[place] = arc;
        }
    }
    return result;
}

std::vector<int32_t> distances(const Graph& graph, std::span<const uint32_t> sources) {
    std::vector<int32_t> found(graph.size, not_reached);
    std::vector<uint32_t> queue;
    const auto reach = [&](uint32_t node, int32_t distance) {
        if (found[node] != not_reached) return;
        found[node] = distance;
        queue.push_back(node);
    };
    for (uint32_t source : sources) reach(source, 0);
    for (size_t i = 0; i < queue.size(); ++i)
        for (uint32_t next : graph.successors(queue[i])) reach(next, found[queue[i]] + 1);
    return found;
}

std::vector<int64_t> least_costs(const Graph& graph, std::span<const int64_t> costs,
                                 std::span<const uint32_t> sources) {
    std::vector<int64_t> found(graph.size, not_reached);
    RadixHeap<uint32_t> heap;
    std::vector<uint32_t> overflows;
    const auto reach = [&](uint32_t node, int64_t cost) {
        if (found[node] != not_reached && found[node] <= cost) return;
        found[node] = cost;
        heap.push(cost, node);
    };
    for (uint32_t source : sources) reach(source, 0);
    while (const auto entry = heap.pop()) {
        const auto [cost, node] = *entry;
        if (cost > found[node]) continue;  // a cheaper path was found since
        if (node + 1 >= graph.offsets.size()) continue;
        for (uint32_t arc = graph.offsets[node]; arc < graph.offsets[node + 1]; ++arc) {
            int64_t total = 0;
            if (__builtin_add_overflow(cost, costs[arc], &total))
                overflows.push_back(graph.targets[arc]);
            else
                reach(graph.targets[arc], total);
        }
    }
    for (uint32_t node : overflows)
        if (found[node] == not_reached) throw std::overflow_error("a sum of costs is too large");
    return found;
}

namespace {

constexpr uint32_t unseen = UINT32_MAX;

struct Tarjan {
    const Graph& graph;
    std::vector<uint32_t> order, low, component, stack;
    uint32_t entered = 0;
    uint32_t closed = 0;

    explicit Tarjan(const Graph& graph)
        : graph(graph), order(graph.size, unseen), low(graph.size), component(graph.size, unseen) {
        for (uint32_t node = 0; node < graph.size; ++node)
            if (order[node] == unseen) visit(node);
    }

    // Iterative, since paths may be as long as there are nodes.
    void visit(uint32_t root) {
        std::vector<std::pair<uint32_t, size_t>> path{{root, 0}};
        enter(root);
        while (!path.empty()) {
            auto& [node, next] = path.back();
            const auto successors = graph.successors(node);
            if (next < successors.size()) {
                const uint32_t child = successors[next++];
                if (order[child] == unseen) {
                    enter(child);
                    path.emplace_back(child, 0);
                } else if (component[child] == unseen) {  // on the stack
                    low[node] = std::min(low[node], order[child]);
                }
                continue;
            }
            const uint32_t done = node;
            path.pop_back();
            if (!path.empty()) low[path.back().first] = std::min(low[path.back().first], low[done]);
            if (low[done] == order[done]) close(done);
        }
    }
    void enter(uint32_t node) {
        order[node] = low[node] = entered++;
        stack.push_back(node);
    }
    void close(uint32_t root) {
        uint32_t node;
        do {
            node = stack.back();
            stack.pop_back();
            component[node] = closed;
        } while (node != root);
        ++closed;
    }
};

}  // namespace

std::vector<uint32_t> strong_components(const Graph& graph) { return Tarjan(graph).component; }

}  // namespace planlog
