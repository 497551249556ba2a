"""Importers: models that exist elsewhere, in the formats of other tools, as assemblies."""
