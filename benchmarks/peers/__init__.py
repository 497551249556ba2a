"""The peers, one module each: the same mechanism in the peer's own terms, run by the peer's own means."""
