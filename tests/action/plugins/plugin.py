"""A plugin that does everything that plugins do, right and wrong."""

import os
import sys
import threading

import numpy as np

kept = []


def sums(event, iteration, blocks):
    results = {"event": event, "iteration": iteration, "clients": list(blocks.clients)}
    for name, of_name in blocks.items():
        for block in of_name:
            assert isinstance(block.data, np.ndarray) and not block.data.flags.writeable
            assert not block.data.flags.owndata
            key = f"{name}/{block.iteration}/{block.source}"
            results[key] = [block.data.sum(dtype=np.float64), block.offset[0], block.global_shape[0]]
            results[key + "/type"] = f"{block.data.dtype} {block.data.shape} {block.unit}"
    print("sums are made")
    return results


def nothing(event, iteration, blocks):
    pass


def raises(event, iteration, blocks):
    raise ValueError("no storm in the data")


def leaves(event, iteration, blocks):
    sys.exit(3)


def really_leaves(event, iteration, blocks):
    os._exit(42)


def hangs(event, iteration, blocks):
    while True:
        pass


def writes(event, iteration, blocks):
    blocks["height"][0].data[0, 0] = 1


def forces_it(event, iteration, blocks):
    import ctypes
    address = blocks["height"][0].data.__array_interface__["data"][0]
    ctypes.memset(address, 1, 1)


def keeps(event, iteration, blocks):
    kept.append(blocks["height"][0].data)
    return {"kept": sum(float(view[0, 0]) for view in kept), "views": len(kept)}


def missing(event, iteration, blocks):
    return blocks["pressure"]


def returns_a_number(event, iteration, blocks):
    return 5


def returns_too_much(event, iteration, blocks):
    return {"all": [0.5] * ((16 << 20) // 8)}


def returns_an_object(event, iteration, blocks):
    return {"key": object()}


def takes_too_little(event):
    return {"event": event}


def returns_numbers(event, iteration, blocks):
    return {"bool": np.True_, "int": 7, "float32": np.float32(0.5), "array": np.arange(4).reshape(2, 2),
            "zero": np.array(2.5), "text": "storm"}


def leaves_later(event, iteration, blocks):
    """Leaves a thread behind that ends the process when the call lets it."""
    sys.setswitchinterval(60)
    goes_on.acquire()
    threading.Thread(target=leave_when_free, daemon=True).start()
    goes_on.release()


def leave_when_free():
    with goes_on:
        os._exit(9)


goes_on = threading.Lock()
not_a_function = 5
