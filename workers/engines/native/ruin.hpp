// Takes a patch out of a plan: strings of neighbouring stops from neighbouring routes.
//
// Source: Christiaens and Vanden Berghe, "Slack Induction by String Removals for Vehicle Routing Problems",
// Transportation Science 54 (2), 2020, section 5.1 (adjacent string removal with split strings).
#pragma once
#include "working_plan.hpp"

namespace sisr {

class Ruin {
public:
    Ruin(Plan& plan, Random& random)
        : plan_(plan),
          problem_(plan.problem),
          random_(random),
          is_ruined_(static_cast<int>(plan.problem.agents.size())),
          is_listed_(static_cast<int>(plan.problem.items.size())) {}

    // Fill `items` with what was removed, and with what nobody served in the neighbourhood.
    void operator()(std::vector<int>& items);
    // Whether the last time it listed what nobody serves around a place, to be put back at any cost: where leaving out
    // is cheap, no ticket opens a route for itself alone.
    bool has_gathered() const { return has_gathered_; }

private:
    static constexpr double MEAN_REMOVED = 10;
    static constexpr int LONGEST_STRING = 10;
    static constexpr double SPLIT = 0.5;         // share of split strings
    static constexpr double SPLIT_GROWS = 0.01;  // chance that one more stop in the middle is preserved
    static constexpr double WHOLE_ROUTE =
        0.02;  // share of rounds that begin by emptying a route, where agents differ or stops are priced
    static constexpr double REASSIGNED = 0.2;  // share of rounds in which what is left of a route changes its agent
    static constexpr double RELOADED = 0.1;    // share of rounds that try a reload among locked visits
    static constexpr double LONGEST_DAY = 0.3;  // share of rounds that begin in the longest day, where it is priced
    static constexpr int ABSENT_TRIED = 12;  // absent items tried a round at most
    static constexpr int CHEAP_TRIED = 2;    // of those anywhere that may be left out for a price
    static constexpr double GATHERED = 0.3;  // share of rounds that then gather them

    void remove_string(int ticket, int length, std::vector<int>& items);
    void remove_route(int agent, std::vector<int>& items);
    void remove(int agent, std::vector<int>& items);
    int any_seed();
    void reassign();
    void reload();
    void gather(int ticket, std::vector<int>& items);
    void list_absent(int ticket, std::vector<int>& items);

    Plan& plan_;
    const Problem& problem_;
    Random& random_;
    ClearableSet is_ruined_, is_listed_;
    std::vector<int> chosen_;  // tickets to remove from one route
    int absent_listed_ = 0;
    bool has_gathered_ = false;
};

}  // namespace sisr
