"""Accelerations and constraint forces: dense, sparse, or by the articulated-body recursion."""
