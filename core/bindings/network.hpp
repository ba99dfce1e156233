// The weights of a network as Python hands them over.
#pragma once

#include "bindings/shared.hpp"
#include "network/network.hpp"

namespace planlog {

using MatrixArray = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Enum>
Enum as_enum(int number, Enum last) {
    if (number < 0 || number > static_cast<int>(last))
        throw nb::value_error("no such activation or aggregation");
    return Enum(number);
}

inline Matrix as_matrix(MatrixArray array) {
    const auto rows = static_cast<uint32_t>(array.shape(0));
    const auto columns = static_cast<uint32_t>(array.shape(1));
    std::vector<float> data;
    for (uint32_t c = 0; c < columns; ++c)
        for (uint32_t r = 0; r < rows; ++r) data.push_back(array(r, c));
    return {rows, columns, std::move(data)};
}

struct SharedNetwork {
    std::shared_ptr<SharedProgram> program;
    Network network;

    SharedNetwork(
        std::shared_ptr<SharedProgram> of, std::vector<uint32_t> dimensions,
        const std::vector<std::tuple<uint32_t, MatrixArray, std::vector<MatrixArray>>>& rules,
        int message_activation, const std::vector<int>& atom_activations, int aggregation)
        : program(std::move(of)),
          network{&program->program,
                  std::move(dimensions),
                  {},
                  as_enum(message_activation, Activation::LeakyRelu),
                  {},
                  as_enum(aggregation, Aggregation::Sum)} {
        for (const auto& [rule, head, body] : rules) {
            auto& weights = network.rules.emplace_back();
            weights.rule = rule;
            weights.head = as_matrix(head);
            for (const MatrixArray& matrix : body) weights.body.push_back(as_matrix(matrix));
        }
        for (int activation : atom_activations)
            network.atom_activations.push_back(as_enum(activation, Activation::LeakyRelu));
        network.check();
    }
};

}  // namespace planlog
