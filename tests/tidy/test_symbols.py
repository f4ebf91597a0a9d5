"""The check of exported symbols, fed symbols that escape or are missing."""

import unittest

import symbols

HEADER = """
#define TAILRACE_API __attribute__((visibility("default")))
/* TAILRACE_API is before tailrace_commented(. */
TAILRACE_API tailrace_status tailrace_open(const char* config, int client,
                                           tailrace_client** out);
TAILRACE_API const char* tailrace_version(void);
typedef void (*tailrace_callback)(void* context);
"""
MAP = "TAILRACE_0.1 { global: tailrace_open; # the first\n tailrace_version; local: *; };"
LISTING = """
0000000000000000 A TAILRACE_0.1
0000000000001000 T tailrace_open@@TAILRACE_0.1
0000000000001100 T tailrace_version@@TAILRACE_0.1
"""


class Symbols(unittest.TestCase):
    def test_reading(self):
        both = {"tailrace_open", "tailrace_version"}
        self.assertEqual(symbols.symbols_of_header(HEADER), both)
        self.assertEqual(symbols.symbols_of_map(MAP), (both, {"TAILRACE_0.1"}))
        self.assertEqual(symbols.symbols_of_library(LISTING) - {"TAILRACE_0.1"}, both)

    def test_an_escaped_symbol(self):
        found = symbols.symbols_of_library(LISTING + "0000000000002000 T H5open\n") - {"TAILRACE_0.1"}
        named, _ = symbols.symbols_of_map(MAP)
        self.assertEqual(symbols.compare(named, found, "the map", "the library"),
                         ["H5open: in the library, not in the map"])

    def test_a_missing_symbol(self):
        self.assertEqual(symbols.compare({"a", "b"}, {"a"}, "the header", "the map"),
                         ["b: in the header, not in the map"])


if __name__ == "__main__":
    unittest.main()
