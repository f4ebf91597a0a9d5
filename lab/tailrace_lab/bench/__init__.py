"""The test-bed behind `tailrace bench pattern`: a program that computes and writes in turn, run with every writer.

In the order of the data: program.py finds and runs the C++ program `pattern`, one process for each run; measure.py
makes it measure this machine and directory; writers.py names the ways to write; scratch.py lends them directories;
pattern.py runs them in turn; evaluate.py computes figures from the runs, with statistics.py; result.py keeps
everything in a file. Prints nothing: the command line does that.
"""
