// Has no function of its own; CMakeLists.txt has why.
