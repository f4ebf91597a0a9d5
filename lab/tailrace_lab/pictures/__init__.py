"""Pictures of results of benchmarks, which compare ways and systems: each module draws one into a matplotlib figure.

`kinds` says how tailrace recognises and reads the files, and shows them in a report.
"""
