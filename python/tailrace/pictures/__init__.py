"""Pictures of a run of one's own: each module draws one into a matplotlib figure; `page` gathers them in HTML.

`kind` says what a kind of file is, `own_kinds` has tailrace's own, traces and statistics. `source` reads a file and
recognises its kind, `gallery` makes the pictures. Everything here draws what is in files; nothing measures, predicts
or runs a program. Other packages add kinds: tailrace_lab has those of benchmarks, with what compares systems.
"""
