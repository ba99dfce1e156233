// Joins: all substitutions under which a conjunction of literals holds, by nested index loops.
//
// A plan orders the literals greedily: next comes the literal with the fewest expected matches,
// given the bound variables and the sizes of the relations; negated literals and comparisons come
// as soon as their variables are bound. Every lookup uses a hash index on the bound columns.
//
// A plan may start from a *trigger*: a literal whose row is given, because its atom has changed, as
// in semi-naive evaluation. If several atoms changed at once, every new substitution must still be
// found exactly once. Each changed row has a stamp, and a triggered join ignores changes with later
// stamps: so a substitution is found by the last of its changed atoms, at the first literal where
// that atom occurs.
#pragma once

#include <optional>
#include <vector>

#include "datalog/program.hpp"
#include "datalog/relation.hpp"
#include "util/interruption.hpp"

namespace planlog {

struct JoinStep {
    enum class Kind : uint8_t {
        Lookup,   // the rows that match the bound columns
        Member,   // all columns are bound: the row must be true
        Absent,   // the same under negation: the row must not be true
        Compare,  // two bound terms
        Check,    // a constraint whose variables are bound
        Assign,   // an equation that gives a variable its value
    };
    struct Column {
        uint32_t column;
        uint32_t variable;
    };
    Kind kind;
    bool equal = true;        // Compare
    uint32_t literal = 0;     // position in the body
    uint32_t constraint = 0;  // Check, Assign: position among the constraints
    uint32_t variable = 0;    // Assign
    uint32_t relation = 0;
    uint32_t index = 0;     // Lookup
    std::vector<Term> key;  // of the index, of the row, or the two terms
    std::vector<Column> bind;
    std::vector<Column> repeat;  // columns of a variable bound earlier in the same literal
};

struct JoinPlan {
    std::optional<uint32_t> trigger;  // position of the literal whose row is given
    std::vector<JoinStep> steps;
};

// Chooses plans by the present sizes of the relations, and adds the indexes that they need.
class JoinPlanner {
  public:
    explicit JoinPlanner(std::vector<Relation>& relations);
    JoinPlan plan(const Query& query, std::optional<uint32_t> trigger);

  private:
    double expected_rows(uint32_t relation, ColumnMask bound);

    std::vector<Relation>& relations_;
    std::vector<std::vector<size_t>> distinct_;  // per relation and column, 0 if not yet counted
};

// Runs plans. A match is written to `matches` as the rows of the body's literals
// (no_row for negated ones) followed by the values of the variables.
class JoinExecutor {
  public:
    // All matches, counted; the query's bound variables have the given values. New numbers are
    // added to `numbers`.
    size_t run(const std::vector<Relation>& relations, NumberTable& numbers, const Query& query,
               const JoinPlan& plan, const ObjectId* bound, std::vector<uint32_t>& matches);
    // Matches in which the trigger's literal is the given row.
    size_t run_triggered(const std::vector<Relation>& relations, NumberTable& numbers,
                         const Query& query, const JoinPlan& plan, Row row,
                         std::vector<uint32_t>& matches);

  private:
    void search(size_t number);
    bool passes(const JoinStep& step, const ObjectId* key);
    void assign(const JoinStep& step);
    bool is_visible(const Relation& relation, Row row, uint32_t literal) const;
    ObjectId value(Term term) const { return term.under(binding_.data()); }
    void prepare(const std::vector<Relation>& relations, NumberTable& numbers, const Query& query,
                 const JoinPlan& plan, std::vector<uint32_t>& matches);

    // Of the run in progress.
    const std::vector<Relation>* relations_ = nullptr;
    NumberTable* numbers_ = nullptr;
    const Query* query_ = nullptr;
    const JoinPlan* plan_ = nullptr;
    std::vector<uint32_t>* matches_ = nullptr;
    uint64_t limit_ = UINT64_MAX;  // stamp of the trigger
    uint32_t trigger_ = 0;
    std::vector<ObjectId> binding_;
    std::vector<Row> rows_;
    size_t match_count_ = 0;
    StepCounter visited_;  // rows
};

}  // namespace planlog
