// StudyTable: the result of the study: a line for each schedule, with repetitions from different seeds.
//
// measure() makes the runs; print() and json_of() show them. Ratios are of means.
#pragma once

#include <string>
#include <vector>

#include "lab/inside/forward_study/statistics.hpp"
#include "lab/inside/forward_study/study_run.hpp"

namespace tailrace::impl::study {

inline constexpr double kConfidence = 0.997;  // the paper's

struct Line {
  Schedule schedule;
  Summary seconds;
  std::vector<double> each;  // seconds of each run
  Outcome mean;
};

// Runs every schedule with the seeds seed … seed + runs − 1.
std::vector<Line> measure(const Parameters& parameters, const std::vector<Schedule>& schedules, uint32_t runs,
                          uint64_t seed);

// Returns the line of the first schedule of this kind; null if there is none.
const Line* line_of(const std::vector<Line>& lines, Kind kind);
// Returns the fastest line of twins; null if there is none.
const Line* best_window(const std::vector<Line>& lines);

// Describes the parameters, in lines.
std::string describe(const Parameters& parameters);
void print(const Parameters& parameters, const std::vector<Line>& lines);
std::string json_of(const Parameters& parameters, const std::vector<Line>& lines, uint32_t runs, uint64_t seed);

}  // namespace tailrace::impl::study
