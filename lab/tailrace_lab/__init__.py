"""The laboratory of tailrace: what measures and compares. `bench` makes runs, `pictures` draws their results, `cli`
has the commands `tailrace bench` and `tailrace plot`. It uses only what tailrace offers to other packages.
"""
