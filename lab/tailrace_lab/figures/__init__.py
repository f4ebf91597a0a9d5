"""The tables of the pages about benchmarks, made from results: `make figures`; and `make bench-check`.

`documents` reads the results in docs/figures, `cells` has the cells that are more than text, `markdown` writes cells
and tables; `of_patterns`, `of_bars` and `of_calls` have a function for each table, `tables` lists them, and `pages`
puts them between the marks of the pages. `compare` finds the ratios that differ between two tables, `check` says
which became worse.
"""
