# The Python package beside the tool: `margay run` puts its hook for Triton on PYTHONPATH.
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python ${PROJECT_BINARY_DIR}/lib/margay/python SYMBOLIC)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/margay DESTINATION lib/margay/python
  PATTERN __pycache__ EXCLUDE)
