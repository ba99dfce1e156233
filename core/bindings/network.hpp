// Networks with the weights that Python provides.
#pragma once

#include "bindings/bindings.hpp"
#include "network/network.hpp"

namespace planlog {

using MatrixArray = nb::ndarray<const float, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
using RuleWeightArrays = std::tuple<uint32_t, MatrixArray, std::vector<MatrixArray>>;

inline Matrix as_matrix(const MatrixArray& array) {
    return {static_cast<uint32_t>(array.shape(0)), static_cast<uint32_t>(array.shape(1)),
            std::vector(array.data(), array.data() + array.size())};
}

struct SharedNetwork {
    std::shared_ptr<SharedProgram> program;
    Network network;

    SharedNetwork(std::shared_ptr<SharedProgram> of, std::vector<uint32_t> dimensions,
                  const std::vector<RuleWeightArrays>& rules, Activation message_activation,
                  std::vector<Activation> atom_activations, Aggregation aggregation,
                  const std::vector<uint32_t>& with_features)
        : program(std::move(of)),
          network{NetworkStructure(program->frozen(), numbers_of(rules), with_features),
                  {},
                  std::move(dimensions),
                  message_activation,
                  std::move(atom_activations),
                  aggregation} {
        for (const auto& [rule, head, body] : rules) {
            auto& weights = network.weights.emplace_back(Network::RuleWeights{as_matrix(head), {}});
            for (const MatrixArray& matrix : body) weights.body.push_back(as_matrix(matrix));
        }
        network.check();
    }

    // Throws if the network does not give scores to all actions that the program derives.
    void check_scores(const SharedProgram& of) const {
        if (program.get() != &of) throw nb::value_error("a network of another program");
        for (uint32_t a = 0; a < of.domain->actions.size(); ++a) {
            const auto relation = of.program.find_action(ActionId(a));
            if (relation && (!network.structure.is_derived(*relation) ||
                             network.dimensions[index(*relation)] != 1))
                throw nb::value_error("actions need scores: values of dimension 1");
        }
    }

  private:
    static std::vector<uint32_t> numbers_of(const std::vector<RuleWeightArrays>& rules) {
        std::vector<uint32_t> numbers;
        for (const auto& [rule, head, body] : rules) numbers.push_back(rule);
        return numbers;
    }
};

}  // namespace planlog
