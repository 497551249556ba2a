"""Published problems, solved: `make validation`. A topic is a module of this folder; CONTRIBUTING.md tells how."""
