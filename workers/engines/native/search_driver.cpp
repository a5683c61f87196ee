#include "search_driver.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <numeric>
#include <system_error>

namespace sisr {
namespace {

// Run work in a thread of its own or, if none can be created, in the waiting thread.
std::future<void> launch(const std::function<void()>& work) {
    try {
        return std::async(std::launch::async, work);
    } catch (const std::system_error&) {
        return std::async(std::launch::deferred, work);
    }
}

// Run work `times` times in parallel, and wait for all.
void run_parallel(int times, const std::function<void(int)>& work) {
    std::vector<std::future<void>> working;
    for (int k = 0; k < times; ++k) working.push_back(launch([&work, k] { work(k); }));
    for (auto& each : working) each.get();
}

}  // namespace

Search::Search(const Problem& problem, const Options& options, const StopCriterion& stop_criterion,
               SharedIncumbent& incumbent)
    : problem_(problem),
      options_(options),
      stop_criterion_(stop_criterion),
      incumbent_(incumbent),
      log_(options.routes, options.routes_size),
      main_(problem, stop_criterion, log_, static_cast<std::uint64_t>(options.seed)),
      unassigned_penalty_(problem, is_timed() ? options.seconds : 0),
      random_(static_cast<std::uint64_t>(options.seed) + 1) {}

End Search::run() {
    if (!problem_.is_read || !problem_.is_sound || !main_.plan.is_sound) return end_reason();
    start();
    publish(main_.best, main_.best_cost);
    stop_criterion_.set_has_plan();
    unit_ = main_.mean_leg_cost();
    const int parts = threads();
    if (options_.warm_length == 0) {
        if (parts > 1 || !has_time_for_population()) cool_briefly();
        unassigned_penalty_.initialize(main_.plan);
    }
    if (parts > 1)
        anneal_parts(parts, 1, initial_temperature());
    else if (uses_population())
        evolve_population();
    else
        anneal_whole(1, initial_temperature());
    return end_reason();
}

End Search::end_reason() const {
    return stop_criterion_.cancelled() ? End::STOPPED : stop_criterion_.over() ? End::TIME_LIMIT : End::EXHAUSTED;
}

double Search::share(const Annealer& annealer) const {
    if (is_timed()) return stop_criterion_.share();
    const Number done = iterations_before_ + (annealer.iterations - iterations_before_) * parallel_;
    return static_cast<double>(done) / static_cast<double>(options_.max_iterations);
}

double Search::temperature(const Annealer& annealer) const {
    return start_temperature_ * std::exp(cooling_ * (share(annealer) - begun_) / (until_ - begun_));
}

// Cool from a temperature, in units, to the end temperature.
void Search::cool(double initial_temperature, double until) {
    const double whole = std::log(END_TEMPERATURE / initial_temperature);
    start_temperature_ = initial_temperature * std::exp(whole * options_.cooled_from) * unit_;
    cooling_ = whole * (options_.cooled_to - options_.cooled_from);
    begun_ = share(main_), until_ = until;
}

double Search::initial_temperature() const {
    return options_.warm_length > 0 && options_.cooled_from <= 0 ? WARM_START_TEMPERATURE
           : problem_.exchangeable  ? START_TEMPERATURE
                                    : START_TEMPERATURE_MIXED;
}

bool Search::is_over(const Annealer& annealer) const {
    const Number items = static_cast<Number>(problem_.items.size());
    return stop_criterion_.over() || items == 0 || (items <= FEW_ITEMS && annealer.iterations >= FEW_ITERATIONS) ||
           (!is_timed() && annealer.iterations >= options_.max_iterations);
}

// Continue from the warm start, or from the better of two plans: with routes grown in parallel, and filled one by one.
void Search::start() {
    if (options_.warm_length > 0) {
        main_.plan.begin();
        decode(options_.warm, options_.warm_length, main_.plan);
        main_.plan.keep();
        main_.discard_best();
        return main_.build(false);
    }
    const std::vector<Route> empty_plan = main_.plan.routes;
    main_.build(true);
    publish(main_.best, main_.best_cost);
    descend(0.5 * DESCENT_SHARE);
    main_.restart_from(empty_plan);
    main_.build(false);
    descend(DESCENT_SHARE);
    if (main_.best_cost < UNKNOWN) main_.restart_from(main_.best);
}

void Search::descend(double until) {
    const Number iterations = DESCENT_ITERATIONS * static_cast<Number>(problem_.items.size());
    for (Number k = 0; k < iterations && share(main_) < until && !is_over(main_); ++k) main_.step(0);
}

// By the speed so far.
double Search::expected_iterations_per_item() const {
    return static_cast<double>(main_.iterations) / std::max(share(main_), 1e-9) /
           static_cast<double>(std::max<std::size_t>(1, problem_.items.size()));
}

// Whether the time is long for a search from scratch. Not with all-or-none groups, which crossover may leave
// incomplete.
bool Search::has_time_for_population(int times) const {
    return options_.warm_length == 0 && options_.cooled_to >= 1 && problem_.all_of.empty() &&
           expected_iterations_per_item() >
               static_cast<double>(times * (problem_.several_vehicle_types ? POPULATION_ITERATIONS_MIXED
                                                                           : POPULATION_ITERATIONS));
}

// Reduced penalties need all of the time.
bool Search::uses_population() const { return has_time_for_population() && !unassigned_penalty_.is_active(0); }

void Search::cool_briefly() {
    if (options_.cooled_to < 1 || FIRST_COOLING_SHARE * expected_iterations_per_item() < FIRST_COOLING_ITERATIONS) return;
    const double until = share(main_) + FIRST_COOLING_SHARE;
    if (const int parts = threads(); parts > 1)
        anneal_parts(parts, until, FIRST_COOLING_TEMPERATURE);
    else
        anneal_whole(until, FIRST_COOLING_TEMPERATURE);
    if (main_.best_cost == UNKNOWN) return;
    main_.restart_from(main_.best);
    raise_temperatures();
}

// Raise all temperatures until a plan at the initial one soon costs more than the settled plan by a share. Returns
// whether they rose.
bool Search::raise_temperatures() {
    if (problem_.priced || problem_.forgoes || !main_.plan.absent.empty()) return false;  // tickets left out outweigh the routes
    const double before = unit_;
    const Number most = main_.cost + static_cast<Number>(INITIAL_EXCESS * static_cast<double>(main_.plan.route_cost()));
    for (int rises = 0; rises < MAX_RISES && !soon_exceeds(most); ++rises) unit_ *= RISE;
    main_.restart_from(main_.best);
    return unit_ > before;
}

// Whether the plan at the initial temperature soon costs more, or the time is up.
bool Search::soon_exceeds(Number cost) {
    const Number iterations = RISE_ITERATIONS * static_cast<Number>(problem_.items.size());
    for (Number k = 0; k < iterations && main_.cost <= cost && !is_over(main_); ++k)
        main_.step(initial_temperature() * unit_);
    return main_.cost > cost || is_over(main_);
}

// Anneal several plans separately, then offspring of two. What one search settles early it rarely revises; the plans of
// several searches differ in their routes. Where temperatures rise, a cooling takes longer, and a population needs more
// time.
void Search::evolve_population() {
    const std::vector<Route> first = main_.plan.routes;
    const double begun = share(main_);
    Population population;
    for (int k = 1; k <= FOUNDERS && !is_over(main_); ++k) {
        main_.restart_from(first);
        main_.discard_best();
        anneal_whole(begun + (FOUNDERS_SHARE - begun) * k / FOUNDERS, initial_temperature());
        population.add(main_.best, main_.best_cost);
        if (k > 1 || main_.best_cost == UNKNOWN || has_time_for_population(HOT_TIMES)) continue;
        main_.restart_from(main_.best);
        if (raise_temperatures()) return anneal_whole(1, initial_temperature());
    }
    for (int k = 1; k <= CHILDREN && !is_over(main_); ++k) {
        const Population::Pair parents = population.draw(random_);
        main_.restart_from(population.routes(parents.one), population.routes(parents.other));
        main_.discard_best();
        anneal_whole(FOUNDERS_SHARE + (1 - FOUNDERS_SHARE) * k / CHILDREN,
                     OFFSPRING_TEMPERATURE * initial_temperature());
        population.replace_parent(parents, main_.best, main_.best_cost);
    }
}

void Search::anneal_whole(double until, double initial_temperature) {
    for (cool(initial_temperature, until); share(main_) < until && !is_over(main_);) {
        if (main_.iterations % PRICES_UPDATED_EVERY == 0) set_unassigned_prices();
        main_.step(temperature(main_));
        incumbent_.count(main_.iterations);
        if (main_.best_cost < published_ && stop_criterion_.elapsed() - published_at_ > PUBLISH_EVERY_S)
            publish(main_.best, main_.best_cost);
    }
    publish(main_.best, main_.best_cost);
}

void Search::set_unassigned_prices() {
    if (const double at = share(main_); unassigned_penalty_.is_active(at))
        main_.set_unassigned_prices(unassigned_penalty_.prices(at));
    else if (main_.plan.has_reduced_penalties())
        main_.set_unassigned_prices({});
}

// The number of threads that pay; 1 where the cost of a plan is not the sum of the costs of its parts.
int Search::threads() const {
    if (problem_.span_cost > 0 || !problem_.all_of.empty()) return 1;
    const std::size_t most =
        std::min(main_.plan.served / PART_TICKETS, static_cast<int>(main_.plan.active.size()) / PART_ROUTES);
    return std::max(1, static_cast<int>(std::min<Number>(options_.threads, most)));
}

void Search::anneal_parts(int threads, double until, double initial_temperature) {
    std::vector<Route> current = main_.plan.routes, best = main_.best;
    Number best_cost = main_.best_cost;
    cool(initial_temperature, until);
    std::vector<std::unique_ptr<Annealer>> annealers;
    while (static_cast<int>(annealers.size()) < threads)
        annealers.push_back(std::make_unique<Annealer>(problem_, stop_criterion_, log_, random_.next()));
    parallel_ = threads;
    if (unassigned_penalty_.is_active(share(main_))) settle_route_count(annealers, current, best, best_cost);
    for (; share(main_) < until && !is_over(main_); publish(best, best_cost)) {
        const std::vector<SubPlan> parts = decompose(problem_, current, threads, random_);
        iterations_before_ = main_.iterations;
        const double round_ends =
            share(main_) + (is_timed() ? std::max(ROUND_SHARE, ROUND_S / options_.seconds) : ROUND_SHARE);
        run_parallel(threads, [&](int k) { anneal(*annealers[k], current, parts[k], round_ends); });
        merge_parts(annealers, current, best, best_cost);
        incumbent_.count(main_.iterations);
    }
    parallel_ = 1;
    if (best_cost == UNKNOWN) return;
    main_.restart_from(best);
    main_.discard_best();
}

// The number of routes is settled in whole plans, one for each thread, with random differences; the best one is kept.
void Search::settle_route_count(const Annealers& annealers, std::vector<Route>& current, std::vector<Route>& best,
                                Number& best_cost) {
    iterations_before_ = main_.iterations;
    run_parallel(static_cast<int>(annealers.size()), [&](int k) { settle_route_count(*annealers[k], current); });
    for (const auto& each : annealers) main_.iterations += each->iterations - iterations_before_;
    incumbent_.count(main_.iterations);
    const auto ends_cheaper = [](const auto& one, const auto& other) { return one->cost < other->cost; };
    current = (*std::min_element(annealers.begin(), annealers.end(), ends_cheaper))->plan.routes;
    for (const auto& each : annealers)
        if (each->best_cost < best_cost) best = each->best, best_cost = each->best_cost;
    publish(best, best_cost);
}

void Search::settle_route_count(Annealer& annealer, const std::vector<Route>& first) {
    annealer.restart_from(first);
    annealer.discard_best();
    annealer.iterations = iterations_before_;
    for (Number k = 0; unassigned_penalty_.is_active(share(annealer)) && !is_over(annealer); ++k) {
        if (k % PRICES_UPDATED_EVERY == 0) annealer.set_unassigned_prices(unassigned_penalty_.prices(share(annealer)));
        annealer.step(temperature(annealer));
    }
    annealer.set_unassigned_prices({});
}

void Search::anneal(Annealer& annealer, const std::vector<Route>& routes, const SubPlan& part, double until) {
    annealer.start_part(routes, part);
    annealer.iterations = iterations_before_;
    while (share(annealer) < until && !is_over(annealer)) annealer.step(temperature(annealer));
}

// Merge the parts: their present and their best routes.
void Search::merge_parts(const Annealers& annealers, std::vector<Route>& current, std::vector<Route>& best,
                         Number& best_cost) {
    Number sum = 0;
    for (const auto& each : annealers) {
        sum = each->best_cost == UNKNOWN ? UNKNOWN : sum == UNKNOWN ? sum : sum + each->best_cost;
        main_.iterations += each->iterations - iterations_before_;
    }
    for (const auto& each : annealers)
        for (int agent = 0; agent < static_cast<int>(current.size()); ++agent) {
            if (!each->plan.contains(agent)) continue;
            current[agent] = each->plan.routes[agent];
            if (sum < best_cost) best[agent] = each->best[agent];
        }
    best_cost = std::min(best_cost, sum);
}

void Search::publish(const std::vector<Route>& routes, Number cost) {
    if (cost >= published_) return;
    Code code;
    for (const Route& route : routes)
        if (route.is_used() && least_load_cost(problem_, route) == 0) encode(problem_, route, code);
    incumbent_.publish(code, cost);
    published_ = cost;
    published_at_ = stop_criterion_.elapsed();
}

}  // namespace sisr
