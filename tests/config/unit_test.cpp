// Units: known factors and powers, and refusals with their advice.
#include "model/unit.hpp"

#include <gtest/gtest.h>

namespace tailrace::impl {
namespace {

struct Golden {
  const char* text;
  double factor;
  std::array<double, 7> powers;  // m kg s A K mol cd
};

const Golden golden[] = {
    {"1", 1, {}},
    {"%", 0.01, {}},
    {"m", 1, {1, 0, 0, 0, 0, 0, 0}},
    {"kg", 1, {0, 1, 0, 0, 0, 0, 0}},
    {"g", 1e-3, {0, 1, 0, 0, 0, 0, 0}},
    {"mg", 1e-6, {0, 1, 0, 0, 0, 0, 0}},
    {"ug", 1e-9, {0, 1, 0, 0, 0, 0, 0}},
    {"s", 1, {0, 0, 1, 0, 0, 0, 0}},
    {"ms", 1e-3, {0, 0, 1, 0, 0, 0, 0}},
    {"A", 1, {0, 0, 0, 1, 0, 0, 0}},
    {"K", 1, {0, 0, 0, 0, 1, 0, 0}},
    {"mol", 1, {0, 0, 0, 0, 0, 1, 0}},
    {"mmol", 1e-3, {0, 0, 0, 0, 0, 1, 0}},
    {"cd", 1, {0, 0, 0, 0, 0, 0, 1}},
    {"m/s", 1, {1, 0, -1, 0, 0, 0, 0}},
    {"m / s", 1, {1, 0, -1, 0, 0, 0, 0}},
    {" m s-1 ", 1, {1, 0, -1, 0, 0, 0, 0}},
    {"m.s-1", 1, {1, 0, -1, 0, 0, 0, 0}},
    {"km/h", 1000.0 / 3600, {1, 0, -1, 0, 0, 0, 0}},
    {"m/s/s", 1, {1, 0, -2, 0, 0, 0, 0}},
    {"m/s^2", 1, {1, 0, -2, 0, 0, 0, 0}},
    {"1/s", 1, {0, 0, -1, 0, 0, 0, 0}},
    {"kg m^-3", 1, {-3, 1, 0, 0, 0, 0, 0}},
    {"kg/m^3", 1, {-3, 1, 0, 0, 0, 0, 0}},
    {"kg*m**-3", 1, {-3, 1, 0, 0, 0, 0, 0}},
    {"g/cm^3", 1000, {-3, 1, 0, 0, 0, 0, 0}},
    {"m**2", 1, {2, 0, 0, 0, 0, 0, 0}},
    {"m2", 1, {2, 0, 0, 0, 0, 0, 0}},
    {"m^2/s", 1, {2, 0, -1, 0, 0, 0, 0}},
    {"km^2", 1e6, {2, 0, 0, 0, 0, 0, 0}},
    {"um", 1e-6, {1, 0, 0, 0, 0, 0, 0}},
    {"\u00b5m", 1e-6, {1, 0, 0, 0, 0, 0, 0}},
    {"m\u00b2", 1, {2, 0, 0, 0, 0, 0, 0}},
    {"dam", 10, {1, 0, 0, 0, 0, 0, 0}},
    {"N", 1, {1, 1, -2, 0, 0, 0, 0}},
    {"N m", 1, {2, 1, -2, 0, 0, 0, 0}},
    {"Pa", 1, {-1, 1, -2, 0, 0, 0, 0}},
    {"hPa", 100, {-1, 1, -2, 0, 0, 0, 0}},
    {"kPa", 1000, {-1, 1, -2, 0, 0, 0, 0}},
    {"bar", 1e5, {-1, 1, -2, 0, 0, 0, 0}},
    {"mbar", 100, {-1, 1, -2, 0, 0, 0, 0}},
    {"J", 1, {2, 1, -2, 0, 0, 0, 0}},
    {"J kg^-1 K^-1", 1, {2, 0, -2, 0, -1, 0, 0}},
    {"J/kg/K", 1, {2, 0, -2, 0, -1, 0, 0}},
    {"W m-2", 1, {0, 1, -3, 0, 0, 0, 0}},
    {"Hz", 1, {0, 0, -1, 0, 0, 0, 0}},
    {"GHz", 1e9, {0, 0, -1, 0, 0, 0, 0}},
    {"C", 1, {0, 0, 1, 1, 0, 0, 0}},
    {"V", 1, {2, 1, -3, -1, 0, 0, 0}},
    {"V/m", 1, {1, 1, -3, -1, 0, 0, 0}},
    {"Ohm", 1, {2, 1, -3, -2, 0, 0, 0}},
    {"k\u03a9", 1000, {2, 1, -3, -2, 0, 0, 0}},
    {"T", 1, {0, 1, -2, -1, 0, 0, 0}},
    {"rad", 1, {}},
    {"deg", 0.017453292519943295, {}},
    {"L", 1e-3, {3, 0, 0, 0, 0, 0, 0}},
    {"mL", 1e-6, {3, 0, 0, 0, 0, 0, 0}},
    {"t", 1000, {0, 1, 0, 0, 0, 0, 0}},
    {"min", 60, {0, 0, 1, 0, 0, 0, 0}},
    {"h", 3600, {0, 0, 1, 0, 0, 0, 0}},
    {"day", 86400, {0, 0, 1, 0, 0, 0, 0}},
    {"mm/day", 1e-3 / 86400, {1, 0, -1, 0, 0, 0, 0}},
    {"MeV", 1.602176634e-13, {2, 1, -2, 0, 0, 0, 0}},
};

TEST(unit, golden_factors_and_powers) {
  for (const Golden& expected : golden) {
    const auto unit = parse_unit(expected.text);
    ASSERT_TRUE(unit.ok()) << expected.text << ": " << unit.status().fault().message;
    EXPECT_DOUBLE_EQ(unit.value().factor, expected.factor) << expected.text;
    EXPECT_EQ(unit.value().dimension, expected.powers) << expected.text;
  }
}

TEST(unit, symbol_is_as_written) {
  const auto unit = parse_unit("  kg m^-3 ");
  ASSERT_TRUE(unit.ok());
  EXPECT_EQ(unit.value().symbol, "kg m^-3");
}

TEST(unit, what_is_refused_and_why) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "it is empty"},
      {"   ", "it is empty"},
      {"degC", "not a pure factor"},
      {"\u00b0C", "not a pure factor"},
      {"degF", "not a pure factor"},
      {"meter", "write 'm'"},
      {"kelvin", "write 'K'"},
      {"PAS", "did you mean 'Pa'?"},
      {"kpa", "did you mean 'kPa'?"},
      {"hz", "did you mean 'Hz'?"},
      {"ohm", "did you mean 'Ohm'?"},
      {"furlong", "write it like m/s"},
      {"kmin", "not a known unit"},
      {"k%", "not a known unit"},
      {"m^", "whole number"},
      {"m^x", "whole number"},
      {"m^1.5", "whole number"},
      {"m^99", "powers go up to 12"},
      {"m--2", "whole number"},
      {"m/", "it ends after '/'"},
      {"m*", "it ends after '*'"},
      {"/s", "write 1/s"},
      {"m//s", "needs something before it"},
      {"10 m", "the number '10'"},
      {"2", "the number '2'"},
      {"J/(kg K)", "parentheses"},
      {"J/kg K", "two ways"},
      {"J/kg*K", "two ways"},
      {"m -2", "'-2' is not understood"},
      {"m\ts", "not understood"},
      {"Qm^12", "too large"},
  };
  for (const auto& [text, fragment] : cases) {
    const auto unit = parse_unit(text);
    ASSERT_FALSE(unit.ok()) << text;
    EXPECT_EQ(unit.status().code(), TAILRACE_INVALID_CONFIG) << text;
    const std::string& message = unit.status().fault().message;
    EXPECT_NE(message.find(fragment), std::string::npos) << text << ": " << message;
  }
}

TEST(unit, long_text_is_refused) { EXPECT_FALSE(parse_unit(std::string(1000, 'm')).ok()); }

}  // namespace
}  // namespace tailrace::impl
