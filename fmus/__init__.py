"""The gallery: assemblies that are built, run and compared in the tests."""
