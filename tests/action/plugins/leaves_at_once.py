import sys

sys.exit("no reason to stay")
