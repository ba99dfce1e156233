#include "datalog/group_values.hpp"

#include <algorithm>

namespace planlog {

namespace {

// Records whether the row exists; returns false if that is known already.
bool change(std::vector<bool>& rows, Row row, bool exists) {
    if (row >= rows.size()) rows.resize(row + 1);
    if (rows[row] == exists) return false;
    rows[row] = exists;
    return true;
}

}  // namespace

GroupValues::Group& GroupValues::touch(const uint32_t* key) {
    const size_t size = aggregate_.group_size;
    const uint32_t number = numbers_.find_or_add(hash_of(key, size), [&](uint32_t other) {
        return std::equal(key, key + size, keys_.begin() + static_cast<ptrdiff_t>(other * size));
    });
    if (number == groups_.size()) {
        groups_.emplace_back();
        keys_.insert(keys_.end(), key, key + size);
    }
    Group& group = groups_[number];
    if (!group.is_touched) touched_.push_back(number);
    group.is_touched = true;
    return group;
}

void GroupValues::set_element(Row row, const uint32_t* values, bool exists,
                              const NumberTable& numbers) {
    if (!change(elements_, row, exists)) return;
    Group& group = touch(values);
    exists ? ++group.size : --group.size;
    if (aggregate_.kind == Aggregate::Kind::Count) return;
    const uint32_t column = values[aggregate_.group_size];
    const int64_t value = aggregate_.has_objects() ? column : numbers[column];
    if (aggregate_.kind == Aggregate::Kind::Sum) {
        group.sum += exists ? value : -static_cast<__int128>(value);
        return;
    }
    uint32_t& count = group.values[value];
    exists ? ++count : --count;
    if (count == 0) group.values.erase(value);
}

void GroupValues::set_group(Row row, const uint32_t* values, bool exists) {
    if (change(wanted_, row, exists)) touch(values).is_wanted = exists;
}

std::optional<int64_t> GroupValues::value_of(const Group& group) const {
    using Kind = Aggregate::Kind;
    if (group.size == 0) {
        const bool is_zero = aggregate_.kind == Kind::Count || aggregate_.kind == Kind::Sum;
        return is_zero && group.is_wanted ? std::optional<int64_t>(0) : std::nullopt;
    }
    switch (aggregate_.kind) {
        case Kind::Count:
            return static_cast<int64_t>(group.size);
        case Kind::Sum:
            if (group.sum > INT64_MAX || group.sum < INT64_MIN)
                throw NumberError("a sum does not fit into 64 bits");
            return static_cast<int64_t>(group.sum);
        case Kind::Min:
        case Kind::First:
            return group.values.begin()->first;
        default:
            return group.values.rbegin()->first;
    }
}

}  // namespace planlog
