// run_scale: the study of many nodes: 100 000 nodes with 1 000 forwarders write their data, twice. It shows how long
// queues get and how much memory forwarders hold, against their bounds, over time.
//
// Nodes are counters with a window of messages. Forwarders have real engines, schedulers and memory
// (study_forwarder.hpp). It fails by an assertion if a forwarder holds more than its memory.
#pragma once

#include "lab/inside/forward_study/study_options.hpp"

namespace tailrace::impl::study {

// Sets what differs from the paper's study: the machine and the program of many nodes.
void prepare_scale(Parameters& parameters, uint32_t nodes, uint32_t forwarders);

// Requires options.scale. Runs the first schedule, and prints a table.
void run_scale(const StudyOptions& options);

}  // namespace tailrace::impl::study
