// The value of an aggregate for each group, kept up to date as elements and groups come and go.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "datalog/program.hpp"

namespace planlog {

class GroupValues {
  public:
    explicit GroupValues(const Aggregate& aggregate) : aggregate_(aggregate) {}

    // An element, or a group that may be empty, begins or ceases to exist. The row identifies it;
    // its values are those of all columns.
    void set_element(Row row, const uint32_t* values, bool exists, const NumberTable& numbers);
    void set_group(Row row, const uint32_t* values, bool exists);

    // Calls visit(key, the row that the group has had, its new value if it has one) for each group
    // that has changed since the last call. `visit` returns the new row.
    template <class Visitor>
    void settle(Visitor visit) {
        for (const uint32_t number : touched_) {
            Group& group = groups_[number];
            group.is_touched = false;
            const std::optional<int64_t> value = value_of(group);
            if (value == group.value) continue;
            group.value = value;
            group.row =
                visit(keys_.data() + size_t{number} * aggregate_.group_size, group.row, value);
        }
        touched_.clear();
    }
    bool has_objects() const { return aggregate_.has_objects(); }
    void clear() { *this = GroupValues(aggregate_); }

  private:
    struct Group {
        uint64_t size = 0;
        __int128 sum = 0;
        std::map<int64_t, uint32_t> values{};  // how often each occurs; for Min, Max, First
        bool is_wanted = false;                // it has a value even if it is empty
        bool is_touched = false;
        std::optional<int64_t> value{};  // at the last call of `settle`
        Row row = no_row;                // of this value
    };

    Group& touch(const uint32_t* key);
    std::optional<int64_t> value_of(const Group& group) const;

    Aggregate aggregate_;
    std::vector<Group> groups_;
    std::vector<uint32_t> keys_;  // `group_size` values for each group
    InternTable numbers_;         // of the groups
    std::vector<uint32_t> touched_;
    std::vector<bool> elements_, wanted_;  // per row: whether it has been counted
};

}  // namespace planlog
