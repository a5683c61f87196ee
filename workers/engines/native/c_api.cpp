// The C interface: seven functions over plain arrays. Thread-safe for different buffers.
#include <new>

#include "proof_listing.hpp"
#include "route_pricing.hpp"
#include "search_driver.hpp"
#include "small_day_listing.hpp"

#define EXPORTED __attribute__((visibility("default")))

extern "C" {

EXPORTED sisr::Number sisr_abi() { return sisr::ABI_VERSION; }

// Search until the time is up or `incumbent[INCUMBENT_CANCEL]` is set; returns an `End`. The buffer starts as zeros.
EXPORTED int sisr_solve(const sisr::Input* input, const sisr::Options* options, sisr::Number* incumbent,
                        sisr::Number size) {
    try {
        const sisr::StopCriterion stop_criterion(options->seconds, &incumbent[sisr::INCUMBENT_CANCEL]);
        const sisr::Problem problem(*input, stop_criterion);
        sisr::SharedIncumbent shared(incumbent, size);
        return static_cast<int>(sisr::Search(problem, *options, stop_criterion, shared).run());
    } catch (const std::bad_alloc&) {
        return static_cast<int>(sisr::End::OUT_OF_MEMORY);
    }
}

// Copy the incumbent (its length, then its codes); returns its sequence number, 0 without an incumbent.
EXPORTED sisr::Number sisr_read(sisr::Number* incumbent, sisr::Number* copy) {
    return sisr::read_incumbent(incumbent, copy);
}

// Price routes, see `price_routes`; returns a `Pricing`.
EXPORTED int sisr_price(const sisr::Network* network, const sisr::PricingOptions* options, sisr::Number* out,
                        sisr::Number size, sisr::Number* used, sisr::Number* least) {
    try {
        return static_cast<int>(sisr::price_routes(*network, *options, out, size, used, least));
    } catch (const std::bad_alloc&) {
        return static_cast<int>(sisr::Pricing::OUT_OF_MEMORY);
    }
}

// Enumerate routes, see `enumerate_routes`; returns a `Pricing`.
EXPORTED int sisr_enumerate(const sisr::Network* network, const sisr::PricingOptions* options, sisr::Number* out,
                            sisr::Number size, sisr::Number* used) {
    try {
        return static_cast<int>(sisr::enumerate_routes(*network, *options, out, size, used));
    } catch (const std::bad_alloc&) {
        return static_cast<int>(sisr::Pricing::OUT_OF_MEMORY);
    }
}

// List routes for the check of proofs, see `proof::list_routes`; returns a `proof::Listing`.
EXPORTED int proof_list_routes(const proof::Request* request, proof::Int* out, proof::Int size, proof::Int* used) {
    try {
        return static_cast<int>(proof::list_routes(*request, out, size, used));
    } catch (const std::bad_alloc&) {
        return static_cast<int>(proof::Listing::OUT_OF_MEMORY);
    }
}

// List routes of a small day for the check of proofs, see `proof::small::list_routes`; returns a `proof::Listing`.
EXPORTED int proof_list_small_day(const proof::small::Request* request, proof::Int* out, proof::Int size, proof::Int* used) {
    try {
        return static_cast<int>(proof::small::list_routes(*request, out, size, used));
    } catch (const std::bad_alloc&) {
        return static_cast<int>(proof::Listing::OUT_OF_MEMORY);
    }
}
}
