"""From a System to an FMU: model description, targets, documentation and archive."""
