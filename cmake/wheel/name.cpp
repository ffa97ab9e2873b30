// A library that is a name: programs ask for it, and what it needs has the symbols
// (cmake/library_names.cmake).
