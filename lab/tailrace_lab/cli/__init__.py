"""The commands of the laboratory, one file for each; tailrace's command line finds them by their entry points.

bench.py has `tailrace bench` with its options, the other modules what its parts share or print; plot.py is `tailrace
plot`. They read options and print; `bench` and `pictures` do the work.
"""
