"""The contract between equations and the C runtime, and that runtime as seen from Python.

`contract.py` is the contract as one table, `Equations` a model in its terms. `descriptor` writes a model down, `Model`
and `Instance` (library.py) are the runtime's own objects, `Run` and `run` what Python code works with. It knows nothing
of mechanics. The runtime itself is C: templates/runtime.
"""
